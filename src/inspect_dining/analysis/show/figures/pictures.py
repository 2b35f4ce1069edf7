"""Figures of a comparison by name, for a notebook."""

from dataclasses import dataclass, field
from pathlib import Path

from inspect_dining.analysis.comparison.compare import Comparison
from inspect_dining.analysis.show.figures import plots
from inspect_dining.errors import BadInput
from inspect_dining.files import write


@dataclass(frozen=True, slots=True)
class Picture:
    """A vector picture.

    Attributes:
        svg: The picture as SVG text.
    """

    svg: str = field(repr=False)

    def _repr_html_(self) -> str:
        return self.svg[self.svg.index("<svg") :]

    def save(self, file: str | Path) -> None:
        """Writes the picture to FILE.svg, or to FILE.pdf if a Chromium is on PATH.

        Raises:
            BadInput: The file has another ending, or cannot be written.
        """
        path = Path(file)
        if path.suffix.lower() == ".svg":
            write(path, self.svg)
        elif path.suffix.lower() == ".pdf":
            from inspect_dining.analysis.show.report.pdf import print_figure

            write(path, print_figure(self.svg))
        else:
            raise BadInput(f"{file} is not accepted: the file must end in .svg or .pdf.")


def draw(found: Comparison, what: str) -> Picture:
    """A figure of a comparison by its name.

    Raises:
        BadInput: There is no such figure, or nothing to draw in it.
    """
    figures = {
        "efficiency": plots.efficiency_figure,
        "deadlock": plots.deadlock_figure,
        "survival": plots.survival_figure,
        "seats": plots.seats_figure,
        "contrasts": plots.forest_figure,
    }
    if what not in figures:
        raise BadInput(f"There is no figure {what!r}; accepted: {', '.join(figures)}.")
    svg = figures[what](found)
    if svg is None:
        raise BadInput(f"There is nothing to draw in {what}: no table holds two models that differ.")
    return Picture(svg)
