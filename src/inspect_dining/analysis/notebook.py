"""A comparison that can be displayed in a terminal, a notebook or a figure."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec

from rich.console import Console, RenderableType

from inspect_dining.analysis.comparison import compare as comparing
from inspect_dining.analysis.comparison.compare import Comparison
from inspect_dining.analysis.show.figures.pictures import Picture, draw
from inspect_dining.analysis.show.report.page import fragment
from inspect_dining.analysis.show.tables import comparison_tables

P = ParamSpec("P")


@dataclass(frozen=True, slots=True, repr=False)
class ShownComparison(Comparison):
    """A comparison that prints its tables and plots its figures."""

    def __rich__(self) -> RenderableType:
        """The tables, for a terminal."""
        return comparison_tables(self)

    def __str__(self) -> str:
        """The tables as plain text."""
        console = Console(highlight=False, width=100, force_terminal=False, color_system=None)
        with console.capture() as captured:
            console.print(self)
        return captured.get()

    __repr__ = __str__
    """What a Python prompt prints."""

    def _repr_html_(self) -> str:
        """The notebook view: results, differences, and the scores of every table size."""
        return fragment(self)

    def plot(self, what: str = "efficiency") -> Picture:
        """A figure, which a notebook displays and `save` writes.

        Args:
            what: `efficiency`, `deadlock`, `survival`, `seats` or `contrasts`.

        Raises:
            BadInput: There is no such figure, or nothing to draw in it.
        """
        return draw(self, what)


def _shown(compare: Callable[P, Comparison]) -> Callable[P, ShownComparison]:
    @wraps(compare)
    def compare_and_show(*args: P.args, **kwargs: P.kwargs) -> ShownComparison:
        found = compare(*args, **kwargs)
        return ShownComparison(found.primary, found.sections, found.notes)

    return compare_and_show


compare = _shown(comparing.compare)
