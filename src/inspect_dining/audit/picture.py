"""The frontier as a picture: reward over meals, with the silent player's reward and the scripted players on it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_dining.audit.assessment import Audit, Standing
from inspect_dining.errors import BadInput
from inspect_dining.files import writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENDINGS = (".svg", ".png", ".pdf")
"""The file endings that can be drawn."""

_BLUE, _ORANGE, _GREY, _GREEN = "#0072B2", "#D55E00", "#595959", "#009E73"
"""From the colour-blind safe palette of Okabe and Ito; lines also differ in dash and marker."""


def check_picture(path: Path) -> None:
    """Refuses a picture that could not be drawn, before anything is computed.

    Raises:
        BadInput: The ending is not accepted, the folder does not exist, or matplotlib is missing.
    """
    if path.suffix.lower() not in ENDINGS:
        raise BadInput(f"--picture {path} is not accepted: the name must end in {', '.join(ENDINGS)}.")
    if not path.parent.is_dir():
        raise BadInput(f"--picture {path} cannot be written: there is no folder {path.parent}.")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise BadInput("A picture needs matplotlib: pip install 'inspect-dining[analysis]'.") from None


def draw(audits: Sequence[tuple[Audit, Sequence[Standing]]], path: Path) -> None:
    """Draws audits side by side, whole or not at all.

    Args:
        audits: Each audit with the standings of scripted players, or none.
        path: A file that ends in one of `ENDINGS`.

    Raises:
        BadInput: See `check_picture`.
    """
    check_picture(path)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    with plt.rc_context({
        "font.size": 9,
        "svg.hashsalt": "dining",
        "axes.spines.top": False,
        "axes.spines.right": False,
    }):
        figure, axes = plt.subplots(
            1, len(audits), figsize=(5.6 * len(audits), 4.4), squeeze=False, layout="constrained"
        )
        for panel, (found, rows) in zip(axes[0], audits, strict=True):
            _panel(panel, found, rows)
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
        try:
            metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
            with writing(path) as beside:
                figure.savefig(beside, dpi=200, metadata=metadata)
        finally:
            plt.close(figure)


def _panel(axes: "Axes", found: Audit, rows: Sequence[Standing]) -> None:
    meals = [point.meals for point in found.frontier]
    axes.plot(meals, [point.reward for point in found.frontier], color=_BLUE, label="evenly split, no deadlock")
    locked = [(point.meals, point.in_deadlock) for point in found.frontier if point.in_deadlock is not None]
    axes.plot(*zip(*locked, strict=True), color=_ORANGE, linestyle="--", label="evenly split, deadlock at the end")
    axes.axhline(found.silence.reward, color=_GREY, linestyle=":", label="best silent player")
    best = found.best_fair
    axes.plot(best.meals, best.reward, marker="*", markersize=12, color=_BLUE, linestyle="none", label="best fair play")
    if rows:
        axes.plot(
            [row.meals for row in rows],
            [row.earned for row in rows],
            marker="o",
            markersize=5,
            markerfacecolor="white",
            color=_GREEN,
            linestyle="none",
            label="scripted player (mean)",
        )
        _names(axes, rows, found.best.meals)
    axes.set_title(f"{found.shaping}\nn={found.n}, T={found.rounds}", loc="left", fontsize=9)
    axes.set_xlabel("meals of the whole table")
    axes.set_ylabel("reward")
    axes.set_xlim(-0.03 * found.best.meals, 1.15 * found.best.meals)


def _names(axes: "Axes", rows: Sequence[Standing], most: int) -> None:
    """Writes the players' names next to their points, those of one point on one line."""
    from matplotlib.patheffects import withStroke

    low, high = axes.get_ylim()
    together: list[list[Standing]] = []
    for row in sorted(rows, key=lambda row: (-row.earned, row.meals)):
        for group in together:
            near = abs(row.earned - group[0].earned) < 0.02 * (high - low)
            if near and abs(row.meals - group[0].meals) < 0.02 * most:
                group.append(row)
                break
        else:
            together.append([row])
    for group in together:
        axes.annotate(
            ", ".join(row.player for row in group),
            (group[0].meals, group[0].earned),
            xytext=(5, 4),
            textcoords="offset points",
            fontsize=7.5,
            color="#00664B",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
