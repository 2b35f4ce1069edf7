"""`python -m inspect_dining ladder`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import get_args

import click

from inspect_dining.cli.options import as_json as json_option
from inspect_dining.cli.options import count, counts, refuse_endless, shaped, size
from inspect_dining.scorers.shaping import Throughput, Variance, shaping
from inspect_dining.table.players.scripted import SCRIPTED
from inspect_dining.table.rules import Hint, Order, Release, Rules, Ties


@click.command(name="ladder")
@size
@click.option("--order", type=click.Choice(get_args(Order)), default="simultaneous", show_default=True)
@click.option("--release", type=click.Choice(get_args(Release)), default="auto", show_default=True)
@click.option("--ties", type=click.Choice(get_args(Ties)), default="random", show_default=True)
@click.option("--hint", type=click.Choice(get_args(Hint)), default="none", show_default=True)
@click.option(
    "--patience",
    "patiences",
    callback=counts("patience"),
    default="1,3",
    show_default=True,
    help="After how many locked rounds a game is deadlocked; several values are shown side by side.",
)
@shaped
@click.option("--episodes", type=click.IntRange(min=2), default=300, show_default=True, help="Games per player.")
@click.option("--seed", type=count("seed"), default=0, show_default=True, help="Seed, as in `-T seed=`.")
@json_option
def ladder_command(
    sizes: Sequence[int],
    rounds: int,
    order: Order,
    release: Release,
    ties: Ties,
    hint: Hint,
    patiences: Sequence[int],
    name: str,
    weights: Sequence[float] | None,
    throughput: Throughput | None,
    variance: Variance,
    episodes: int,
    seed: int,
    as_json: bool,
) -> None:
    """What every scripted player scores: the scale on which any model is read.

    Plays the games of an evaluation with the same seed, without Inspect, and orders the players by efficiency under the
    first patience. Intervals are 95%: Wilson's for no_deadlock, Student's t for the others.
    """
    rewarding = shaping(name, weights=weights, throughput=throughput or "seat_rounds", variance=variance)
    refuse_endless(sizes, rounds, len(SCRIPTED) * len(patiences) * episodes)
    from rich.console import Console

    from inspect_dining.audit.ladder import ladder
    from inspect_dining.audit.tables import ladder_tables

    tables = []
    for n in sizes:
        rules = [
            Rules(n=n, rounds=rounds, order=order, release=release, ties=ties, patience=patience, hint=hint)
            for patience in patiences
        ]
        tables.append(ladder(rules, rewarding, episodes, seed))
    if as_json:
        rows = [
            {
                **asdict(rung),
                "rules": rung.rules.options() | {"patience": rung.rules.patience},
                "scores": {name: score.ends() for name, score in rung.scores.items()},
            }
            for rungs in tables
            for rung in rungs
        ]
        click.echo(json.dumps({"reward": rewarding.name, "rungs": rows}, indent=1, allow_nan=False))
    else:
        console = Console(highlight=False)
        for rungs in tables:
            console.print(ladder_tables(rungs, rewarding.name))
