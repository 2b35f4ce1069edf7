"""A whole game in one picture: a row for each seat, a column for each round, and in every cell the seat's two hands."""

from typing import TYPE_CHECKING

from inspect_dining.analysis.show.plots import COLOURS, style, svg
from inspect_dining.table.moves import Action, Outcome, Turn
from inspect_dining.table.narration import ending
from inspect_dining.table.record import Record, Round, replay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEFT, _RIGHT, _MEAL = COLOURS[0], COLOURS[4], COLOURS[2]
_FAULT = COLOURS[1]
_MARKS = {Outcome.LOST_TIE: "t", Outcome.NO_EFFECT: "-", Outcome.LOST: "x"}
"""What a turn that did nothing is marked with."""


def game_figure(record: Record, title: str) -> str:
    """A game as SVG text.

    The left half of a cell is blue while the seat holds its left fork after that round, the right half orange while it
    holds its right fork; a meal fills the cell green with a dot. A turn that did nothing is marked: t lost tie, - no
    effect, x lost turn. A seat's cells are framed once its
    fault has begun. Rounds in which all seats end with one fork are marked above.

    Args:
        record: The record of a game, ended or cut.
        title: Stands above it.
    """
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    rounds, n = replay(record), record.rules.n
    wide = max(record.rules.rounds, 20)
    with style():
        figure = Figure(figsize=(min(11.0, 1.9 + 0.24 * wide), 1.5 + 0.24 * n), layout="constrained")
        axes = figure.subplots()
        for round in rounds:
            _column(axes, round, n)
        meals = rounds[-1].after.meals if rounds else (0,) * n
        for seat in range(n):
            axes.text(len(rounds) + 0.7, seat, f"{meals[seat]}", va="center", ha="left", fontsize=8)
        axes.text(len(rounds) + 0.7, -0.95, "meals", va="center", ha="left", fontsize=8)
        axes.set(xlim=(0.4, wide + 2.4), ylim=(n - 0.4, -1.4), ylabel="seat")
        axes.set_xlabel(f"round ({ending(record)})", loc="left")
        axes.set_xticks([number for number in range(1, record.rules.rounds + 1) if number == 1 or number % 5 == 0])
        axes.set_yticks(range(n))
        axes.grid(visible=False)
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_title(title)
        keys: list[Artist] = [
            Patch(color=_LEFT, label="holds left fork"),
            Patch(color=_RIGHT, label="holds right fork"),
            Patch(color=_MEAL, label="eats"),
            *(
                Line2D([], [], marker=f"${mark}$", color="black", linestyle="none", markersize=5, label=name)
                for mark, name in zip(_MARKS.values(), ("lost tie", "no effect", "lost turn"), strict=True)
            ),
            *([Patch(fill=False, edgecolor=_FAULT, label="fault")] if record.rules.faults else []),
            Line2D([], [], marker="v", color="black", linestyle="none", markersize=4, label="all hold one fork"),
        ]
        figure.legend(handles=keys, loc="outside lower left", ncols=7, fontsize=7, handlelength=1.2, columnspacing=1.0)
        return svg(figure)


def _column(axes: "Axes", round: Round, n: int) -> None:
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    x = round.number
    if round.locked:
        axes.plot([x], [-0.95], marker="v", color="black", markersize=4)
    for seat, turn in enumerate(round.turns):
        axes.add_patch(Rectangle((x - 0.45, seat - 0.42), 0.9, 0.84, facecolor="#F2F2F2", linewidth=0))
        if seat in round.faulty:
            frame = Rectangle((x - 0.45, seat - 0.42), 0.9, 0.84, fill=False, edgecolor=_FAULT, linewidth=0.9, zorder=3)
            axes.add_patch(frame)
        if _ate(turn):
            axes.add_patch(Rectangle((x - 0.45, seat - 0.42), 0.9, 0.84, facecolor=_MEAL, linewidth=0))
            axes.plot([x], [seat], marker="o", color="white", markersize=3)
            continue
        if round.after.held[seat] == seat:
            axes.add_patch(Rectangle((x - 0.45, seat - 0.42), 0.45, 0.84, facecolor=_LEFT, linewidth=0))
        if round.after.held[(seat + 1) % n] == seat:
            axes.add_patch(Rectangle((x, seat - 0.42), 0.45, 0.84, facecolor=_RIGHT, linewidth=0))
        mark = _MARKS.get(turn.outcome)
        if seat in round.forced and turn.outcome is Outcome.LOST:
            continue
        if mark is not None:
            halo = withStroke(linewidth=2, foreground="white")
            axes.text(x, seat, mark, ha="center", va="center", fontsize=7, fontweight="bold", path_effects=[halo])


def _ate(turn: Turn) -> bool:
    return turn.reading.action is Action.EAT and turn.outcome is Outcome.DONE
