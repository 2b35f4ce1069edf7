"""`python -m inspect_dining crossplay`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click
from rich.console import Console

from inspect_dining.cli.options import as_json as json_option
from inspect_dining.cli.options import refuse_endless, size
from inspect_dining.crossplay import cross_play, shapley_values
from inspect_dining.crossplay.seatings import Host, play_scripted
from inspect_dining.crossplay.shapley import MOST_PLAYERS
from inspect_dining.crossplay.tables import matrix_tables, plain
from inspect_dining.errors import BadInput
from inspect_dining.files import write
from inspect_dining.table.players.scripted import SCRIPTED, scripted
from inspect_dining.table.rules import Order, Release, Rules, Ties


@click.command(name="crossplay")
@click.argument("players", nargs=-1, metavar="PLAYERS...")
@size
@click.option("--order", type=click.Choice(get_args(Order)), default="simultaneous", show_default=True)
@click.option("--release", type=click.Choice(get_args(Release)), default="auto", show_default=True)
@click.option("--ties", type=click.Choice(get_args(Ties)), default="random", show_default=True)
@click.option(
    "--patience",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Consecutive locked rounds that make a deadlock.",
)
@click.option("--faults", default="", help="Faults by seat, such as 2:silent@10,4:crash@first_fork.")
@click.option("--games", type=click.IntRange(min=2), default=120, show_default=True, help="Games per table.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed, as in `-T seed=`.")
@click.option(
    "--shapley/--no-shapley", default=True, show_default=True,
    help=f"Whether to compute Shapley values, at most {MOST_PLAYERS} players: 2^players - 1 more tables.",
)  # fmt: skip
@click.option("--figure", type=click.Path(path_type=Path, dir_okay=False), help="Draw the matrix into this SVG file.")
@json_option
def crossplay_command(
    players: tuple[str, ...],
    sizes: Sequence[int],
    rounds: int,
    order: Order,
    release: Release,
    ties: Ties,
    patience: int,
    faults: str,
    games: int,
    seed: int,
    shapley: bool,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Seats every pair of PLAYERS at one table, and each player alone: who can dine with whom?

    PLAYERS are names of scripted players or folders of trained checkpoints. Two players share the seats in every
    distinct arrangement around the ring in turn, and all tables play the same games.
    """
    if not players:
        raise BadInput(f"No players were given: name some of {', '.join(SCRIPTED)}, or folders of checkpoints.")
    folders = [player for player in players if player not in SCRIPTED and Path(player).is_dir()]
    for player in players:
        if player not in folders:
            scripted(player)
    host: Host = play_scripted
    if folders:
        from inspect_dining.providers.guests import host_of

        host = host_of(folders)
    if figure is not None and len(sizes) > 1:
        raise BadInput(f"--figure draws one matrix, and --n names {len(sizes)} sizes: give one --n.")
    count = len(players)
    coalitions = 2**count - 1 if shapley and 1 < count <= MOST_PLAYERS else 0
    refuse_endless(sizes, rounds, (count * (count + 1) // 2 + coalitions) * games)
    several = [
        Rules(n, rounds, order=order, release=release, ties=ties, patience=patience, faults=faults) for n in sizes
    ]
    found = [
        (
            cross_play(players, rules, games, seed, host),
            shapley_values(players, rules, games, seed, host) if coalitions else None,
        )
        for rules in several
    ]
    if figure is not None:
        from inspect_dining.analysis.show.figures.matrix import matrix_figure

        write(figure, matrix_figure(found[0][0]))
    if as_json:
        matrices = [plain(matrix, values) for matrix, values in found]
        click.echo(json.dumps({"faults": faults, "matrices": matrices}, indent=1, allow_nan=False))
        return
    console = Console(highlight=False)
    for matrix, values in found:
        console.print(matrix_tables(matrix, values))
