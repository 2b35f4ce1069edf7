"""The tables of a cross-play matrix for a terminal, and the matrix as plain JSON values."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from inspect_dining.crossplay.matrix import Matrix, PairResult
from inspect_dining.statistics import FEWEST, Estimate

NONE = "-"
"""Shown if nothing was played."""
LEGEND = (
    "The game is the unit; intervals are 95%: Wilson's for deadlock, t widened for skew for the rest, none below "
    f"{FEWEST} games, where it would not hold. Loss is self-play minus cross-play; deadlocks and meals are the "
    "mixed table's minus the pure tables', all game by game. For the regret the best response is chosen on one half of "
    "the games and compared on the other, both ways."
)
"""An explanation of the numbers, in a few sentences."""


def short(found: Estimate | None, places: int = 2) -> str:
    """A mean with the half-width of its interval: `0.72 ±0.02`."""
    if found is None or found.mean is None:
        return NONE
    mean = f"{found.mean:.{places}f}"
    if found.interval is None:
        return mean
    reach = max(found.interval.high - found.mean, found.mean - found.interval.low)
    return f"{mean} ±{reach:.{places}f}"


def entry(cell: PairResult | None) -> str:
    """A cell as shown in the matrix: mean efficiency / share of deadlocks, such as `0.53/0.11`."""
    if cell is None or cell.efficiency.mean is None or cell.deadlock.mean is None:
        return NONE
    return f"{cell.efficiency.mean:.2f}/{cell.deadlock.mean:.2f}"


def matrix_tables(matrix: Matrix, shapley: Mapping[str, Estimate] | None = None) -> RenderableType:
    """All tables of a matrix; 80 columns suffice for up to six players.

    Args:
        matrix: The matrix.
        shapley: The Shapley value of each player, if it was computed.
    """
    parts: list[RenderableType] = [_matrix(matrix), "", _cells(matrix), ""]
    if matrix.mixings:
        parts += [_mixings(matrix), ""]
    if matrix.regrets:
        parts += [_regrets(matrix), ""]
    if shapley:
        parts += [_shapley(shapley), ""]
    return Group(*parts, Text(LEGEND, "dim"))


def _table(title: str, first: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), title=title, title_justify="left",
        title_style="bold", header_style="",
    )  # fmt: skip
    for name in first:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", overflow="fold")
    return table


def _matrix(matrix: Matrix) -> Table:
    title = f"Efficiency / deadlock at n = {matrix.n}, {matrix.rounds} rounds"
    table = _table(title, [""], matrix.players)
    for first in matrix.players:
        row = []
        for second in matrix.players:
            told = entry(matrix.cell(first, second))
            row.append(Text(told, "bold") if first == second else Text(told))
        table.add_row(Text(first), *row)
    return table


def _cells(matrix: Matrix) -> Table:
    table = _table(
        "Tables", ["players"], ["games", "efficiency", "deadlock", "meals of a seat", "splits, best to worst"]
    )
    for (first, second), cell in matrix.cells.items():
        splits = f"{cell.splits[0].efficiency:.2f} to {cell.splits[-1].efficiency:.2f}" if first != second else NONE
        meals = " / ".join(short(cell.meals[player], 1) for player in dict.fromkeys((first, second)))
        name = first if first == second else f"{first} + {second}"
        table.add_row(
            Text(name), str(cell.efficiency.episodes), short(cell.efficiency), short(cell.deadlock), meals, splits
        )
    return table


def _mixings(matrix: Matrix) -> Table:
    table = _table("What mixing costs", ["players"], ["loss", "deadlocks", "meals of the first", "of the second"])
    for mixing in matrix.mixings:
        first, second = mixing.players
        table.add_row(
            Text(f"{first} + {second}"),
            short(mixing.loss),
            short(mixing.deadlocks),
            short(mixing.meals[first], 1),
            short(mixing.meals[second], 1),
        )
    return table


def _regrets(matrix: Matrix) -> Table:
    table = _table("Regret against the best response to each partner", ["player"], matrix.players)
    found = {(regret.player, regret.partner): regret.regret for regret in matrix.regrets}
    best = {regret.partner: regret.best for regret in matrix.regrets}
    for player in matrix.players:
        table.add_row(Text(player), *(short(found.get((player, partner))) for partner in matrix.players))
    table.add_row(Text("best response", "dim"), *(Text(best.get(partner, NONE), "dim") for partner in matrix.players))
    return table


def _shapley(values: Mapping[str, Estimate]) -> Table:
    table = _table("Shapley value: the share of each in a table of all", ["player"], ["value"])
    for player, value in sorted(values.items(), key=lambda item: -(item[1].mean or 0.0)):
        table.add_row(Text(player), short(value, 3))
    return table


def plain(matrix: Matrix, shapley: Mapping[str, Estimate] | None = None) -> dict[str, object]:
    """A matrix as plain JSON values; null is undefined."""
    return {
        "n": matrix.n,
        "rounds": matrix.rounds,
        "players": list(matrix.players),
        "cells": [asdict(cell) for cell in matrix.cells.values()],
        "mixings": [asdict(mixing) for mixing in matrix.mixings],
        "regrets": [asdict(regret) for regret in matrix.regrets],
        "shapley": None if shapley is None else {player: asdict(value) for player, value in shapley.items()},
    }
