"""`python -m inspect_dining audit`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspect_dining.audit.frontier import PAPER_DEADLOCK
from inspect_dining.cli.options import as_json as json_option
from inspect_dining.cli.options import count, refuse_endless, shaped, size
from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import Throughput, Variance, shaping
from inspect_dining.table.players.scripted import SCRIPTED, players_under
from inspect_dining.table.rules import Rules

if TYPE_CHECKING:
    from inspect_dining.audit.assessment import Standing

MOST_SEATS, MOST_ROUNDS = 40, 200
"""The largest table and the longest game that an audit searches; the cost of the search grows with both."""
_A_GROUP = 15
"""One scripted game in this many is extended to a group of this many games, to estimate the chance of no spread."""


@click.command(name="audit")
@shaped
@size
@click.option(
    "--episodes",
    type=click.IntRange(min=0),
    default=300,
    show_default=True,
    help="Games per scripted player; 0 plays none.",
)
@click.option("--seed", type=count("seed"), default=0, show_default=True, help="Seed of the scripted games.")
@click.option(
    "--deadlock",
    type=click.FloatRange(0, 1),
    default=PAPER_DEADLOCK,
    show_default=True,
    help="How often the policy to train deadlocks, used for the chance that a group has no spread.",
)
@click.option("--strict", is_flag=True, help="Exit with status 1 if a property fails.")
@json_option
@click.option("--picture", type=click.Path(path_type=Path, dir_okay=False), help="Draw the frontier: FILE.svg or .png.")
def audit_command(
    name: str,
    weights: Sequence[float] | None,
    throughput: Throughput | None,
    variance: Variance,
    sizes: Sequence[int],
    rounds: int,
    episodes: int,
    seed: int,
    deadlock: float,
    strict: bool,
    as_json: bool,
    picture: Path | None,
) -> None:
    """Is this reward worth optimising?

    Reports what the best silent player earns, what fair play earns for every number of meals, up to which deadlock
    risk playing pays, whether scripted players rank by reward as they do by efficiency, how often a group has no
    spread, and which properties the reward lacks. Without --throughput, paper and meal_gated are audited with both
    normalisers.
    """
    if episodes == 1:
        raise BadInput("--episodes 1 is not accepted: an interval takes two games at least, and 0 plays none.")
    if max(sizes) > MOST_SEATS or rounds > MOST_ROUNDS:
        raise BadInput(
            f"--n {max(sizes)} --rounds {rounds} is not accepted: an audit searches tables of up to {MOST_SEATS} seats "
            f"and {MOST_ROUNDS} rounds."
        )
    if picture is not None:
        from inspect_dining.audit.picture import check_picture

        check_picture(picture)
    shapings = [shaping(name, weights=weights, throughput=t, variance=variance) for t in _normalisers(name, throughput)]
    refuse_endless(sizes, rounds, len(SCRIPTED) * 2 * episodes)
    from rich.console import Console

    from inspect_dining.audit.assessment import agreement, audit, standings, stuck_groups
    from inspect_dining.audit.ladder import play_groups
    from inspect_dining.audit.tables import audit_tables, notes

    # A reward that cannot be computed is refused here, before any game is played.
    audits = [audit(each, n, rounds) for n in sizes for each in shapings]
    rows = []
    for n in sizes:
        played = []
        if episodes:
            rules, groups = Rules(n=n, rounds=rounds), max(1, episodes // _A_GROUP)
            played = [play_groups(rules, player, episodes, groups, seed) for player in players_under(rules)]
        rows += [standings(each, played) if played else [] for each in shapings]
    chances = stuck_groups(deadlock)
    if picture is not None:
        from inspect_dining.audit.picture import draw

        draw(list(zip(audits, rows, strict=True)), picture)
    if as_json:
        found = [
            {**one.to_dict(), "standings": [_standing(row) for row in places], "agreement": agreement(places)}
            for one, places in zip(audits, rows, strict=True)
        ]
        no_spread = {"deadlock": deadlock, "groups": chances}
        click.echo(json.dumps({"audits": found, "no_spread": no_spread}, indent=1, allow_nan=False))
    else:
        console = Console(highlight=False)
        for one, places in zip(audits, rows, strict=True):
            console.print(audit_tables(one, places, episodes))
        console.print(notes(audits, deadlock, chances))
    if strict and any(one.failed for one in audits):
        raise SystemExit(1)


def _normalisers(name: str, throughput: Throughput | None) -> list[Throughput]:
    """The requested normaliser, or both, since the paper does not say which it used."""
    if throughput is not None:
        return [throughput]
    return ["seat_rounds", "optimum"] if name in ("paper", "meal_gated") else ["seat_rounds"]


def _standing(row: "Standing") -> dict[str, object]:
    return {**asdict(row), "reward": row.reward.ends(), "efficiency": row.efficiency.ends()}
