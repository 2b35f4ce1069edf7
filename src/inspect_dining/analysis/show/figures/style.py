"""The look of every figure: colours, markers, letters, panels, and SVG that is the same everywhere."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Literal

from inspect_dining.analysis.comparison.rows import Row
from inspect_dining.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The palette of Okabe and Ito, without its yellow, which is hard to see on paper."""
MARKERS = "osD^vPX"
"""One marker per colour."""
Dash = Literal["-", "--", "-.", ":"]
DASHES: tuple[Dash, ...] = ("-", "--", "-.", ":")
"""Dashes, used when there are more models than colours."""
GREY = "#595959"
"""Null models."""


@dataclass(frozen=True, slots=True)
class Look:
    """A model's appearance in every figure.

    Attributes:
        colour: Its colour.
        marker: Its marker.
        dash: Its dash.
    """

    colour: str
    marker: str
    dash: Dash


@contextmanager
def style() -> Iterator[None]:
    """Applies the style of every figure here."""
    from matplotlib import rc_context

    with rc_context({
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#E6E6E6",
        "grid.linewidth": 0.6,
        "lines.linewidth": 1.4,
        "lines.markersize": 4.5,
        "legend.frameon": False,
        "legend.fontsize": 8,
        "svg.hashsalt": "inspect_dining",
        "text.parse_math": False,  # model names are not formulas
    }):
        yield


def svg(figure: "Figure") -> str:
    """A figure as SVG text; the same bytes for the same figure."""
    file = BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue().decode()


def place_of(row: Row) -> int:
    """0 for A, 1 for B, ..., 26 for AA."""
    place = 0
    for character in row.letter:
        place = 26 * place + ord(character) - ord("A") + 1
    return place - 1


def look_of(row: Row) -> Look:
    """A model's appearance in every figure, by its letter."""
    place, kinds = place_of(row), len(COLOURS)
    return Look(
        COLOURS[place % kinds],
        MARKERS[(place + place // kinds) % len(MARKERS)],
        DASHES[(place + place // kinds) % len(DASHES)],
    )


def draw_legend(figure: "Figure", axes: "Axes") -> None:
    """Draws one legend for all panels below the figure, from the labels of one of them."""
    handles, labels = axes.get_legend_handles_labels()
    longest = max(map(len, labels), default=1)
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=max(1, min(4, 110 // (longest + 6))))


def error_bars(of: Sequence[Estimate], complement: bool = False) -> tuple[list[float], list[list[float]]]:
    """Means, and how far their intervals reach down and up; optionally of the complement, 1 minus the value."""
    means, down, up = [], [], []
    for one in of:
        mean = one.mean or 0.0
        low, high = (mean, mean) if one.interval is None else (one.interval.low, one.interval.high)
        means.append(1 - mean if complement else mean)
        down.append(max(0.0, high - mean if complement else mean - low))
        up.append(max(0.0, mean - low if complement else high - mean))
    return means, [down, up]


def make_panels(count: int, height: float) -> tuple["Figure", list["Axes"]]:
    """A figure with the given number of panels, three per line, each of the given height in inches."""
    from matplotlib.figure import Figure

    columns = min(count, 3)
    lines = -(-count // columns)
    figure = Figure(figsize=(7.2, height * lines + 0.6), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False, sharey=True).ravel().tolist()
    for empty in axes[count:]:
        empty.set_axis_off()
    return figure, axes[:count]
