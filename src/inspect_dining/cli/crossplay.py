"""`python -m inspect_dining crossplay`."""

import json
from pathlib import Path
from typing import get_args

import click
from rich.console import Console

from inspect_dining.cli.options import as_json as json_option
from inspect_dining.cli.options import size
from inspect_dining.crossplay import cross_play, shapley_values
from inspect_dining.crossplay.shapley import MOST_PLAYERS
from inspect_dining.crossplay.tables import matrix_tables, plain
from inspect_dining.errors import BadInput
from inspect_dining.files import write
from inspect_dining.table.players import SCRIPTED, scripted
from inspect_dining.table.rules import Order, Release, Rules, Ties


@click.command(name="crossplay")
@click.argument("players", nargs=-1, metavar="PLAYERS...")
@size
@click.option("--order", type=click.Choice(get_args(Order)), default="simultaneous", show_default=True)
@click.option("--release", type=click.Choice(get_args(Release)), default="auto", show_default=True)
@click.option("--ties", type=click.Choice(get_args(Ties)), default="random", show_default=True)
@click.option(
    "--patience", type=click.IntRange(min=1), default=1, show_default=True, help="Locked rounds of a deadlock."
)
@click.option("--games", type=click.IntRange(min=2), default=120, show_default=True, help="Games of each table.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="As in `-T seed=`.")
@click.option(
    "--shapley/--no-shapley", default=True, show_default=True,
    help=f"Whether to compute Shapley values, at most {MOST_PLAYERS} players: 2^players - 1 more tables.",
)  # fmt: skip
@click.option("--figure", type=click.Path(path_type=Path, dir_okay=False), help="Draw the matrix into this SVG file.")
@json_option
def crossplay_command(
    players: tuple[str, ...],
    n: int,
    rounds: int,
    order: Order,
    release: Release,
    ties: Ties,
    patience: int,
    games: int,
    seed: int,
    shapley: bool,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Seats every pair of PLAYERS at one table, and each alone: who can dine with whom?

    PLAYERS are names of scripted players. Two players share the seats in every distinct arrangement around the ring in
    turn, and all tables play the same games.
    """
    if not players:
        raise BadInput(f"No players were given: name some of {', '.join(SCRIPTED)}.")
    rules = Rules(n, rounds, order=order, release=release, ties=ties, patience=patience)
    for player in players:
        scripted(player)
    matrix = cross_play(players, rules, games, seed)
    values = None
    if shapley and 1 < len(players) <= MOST_PLAYERS:
        values = shapley_values(players, rules, games, seed)
    if figure is not None:
        from inspect_dining.analysis.show.matrix_figure import matrix_figure

        write(figure, matrix_figure(matrix))
    if as_json:
        click.echo(json.dumps(plain(matrix, values), indent=1, allow_nan=False))
    else:
        Console(highlight=False).print(matrix_tables(matrix, values))
