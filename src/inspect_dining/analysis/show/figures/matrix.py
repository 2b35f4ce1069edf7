"""The matrix of cross-play as a picture: darker is more efficient; every cell states its efficiency and deadlocks."""

from inspect_dining.analysis.show.figures.style import style, svg
from inspect_dining.crossplay.matrix import Matrix

_DARK = 0.55
"""Cells with at least this efficiency are dark enough for white letters."""


def matrix_figure(matrix: Matrix) -> str:
    """Draws a matrix.

    Args:
        matrix: The matrix; pairs that were not played are left white.

    Returns:
        SVG text, with all letters as outlines.
    """
    from matplotlib.figure import Figure

    players = matrix.players
    with style():
        side = max(3.2, 0.95 * len(players) + 1.6)
        figure = Figure(figsize=(min(7.2, side + 0.6), min(7.2, side)), layout="constrained")
        axes = figure.subplots()
        axes.grid(visible=False)
        values = [[_mean(matrix, first, second) for second in players] for first in players]
        image = axes.imshow(values, vmin=0, vmax=1, cmap="cividis_r")
        for y, first in enumerate(players):
            for x, second in enumerate(players):
                cell = matrix.cell(first, second)
                if cell is None or cell.efficiency.mean is None or cell.deadlock.mean is None:
                    continue
                axes.text(
                    x, y, f"{cell.efficiency.mean:.2f}\n{cell.deadlock.mean:.0%} locked",
                    ha="center", va="center", fontsize=7, fontweight="bold" if x == y else "normal",
                    color="white" if cell.efficiency.mean > _DARK else "black",
                )  # fmt: skip
        axes.set_xticks(range(len(players)), players, rotation=30, ha="right")
        axes.set_yticks(range(len(players)), players)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        figure.colorbar(image, ax=axes, shrink=0.7, label="efficiency")
        axes.set_title(f"n = {matrix.n}, {matrix.rounds} rounds")
        return svg(figure)


def _mean(matrix: Matrix, first: str, second: str) -> float:
    cell = matrix.cell(first, second)
    return float("nan") if cell is None or cell.efficiency.mean is None else cell.efficiency.mean
