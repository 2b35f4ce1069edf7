"""The display of a run: a live panel in a terminal, plain lines elsewhere, and the tables at its end."""

from collections.abc import Sequence
from types import TracebackType

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from inspect_dining.training.held_out import HeldOutCell
from inspect_dining.training.keep.run_directory import MetricsRow

SHOWN = (
    ("reward", "reward", "{:.3f}"),
    ("deadlock", "deadlock", "{:.0%}"),
    ("meals", "meals a seat", "{:.2f}"),
    ("efficiency", "efficiency", "{:.2f}"),
    ("fed", "fed", "{:.0%}"),
    ("lost", "lost turns", "{:.1%}"),
    ("dead_groups", "dead groups", "{:.0%}"),
)
_EVERY = 10
_RECENT = 8
_TIMED = 2


class Display:
    """Shows a run; use as a context."""

    def __init__(self, console: Console, shown: bool = True) -> None:
        """Takes a console; `shown` is False in all processes but the first."""
        self.console = console
        self.shown = shown
        self.live = Live(console=console, auto_refresh=False) if shown and console.is_terminal else None
        self.recent: list[str] = []
        self.row: MetricsRow = {}
        self.total = 0
        self.seconds: list[float] = []

    def __enter__(self) -> "Display":
        if self.live:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live:
            self.live.stop()

    def line(self, text: str) -> None:
        """Something happened."""
        if self.live:
            self.recent = [*self.recent, text][-_RECENT:]
            self._draw()
        elif self.shown:
            self.console.print(text, highlight=False, soft_wrap=True)

    def step(self, row: MetricsRow, total: int) -> None:
        """A step ended."""
        self.row, self.total = row, total
        self.seconds.append(row["seconds"])
        number = int(row["step"]) + 1
        if self.live:
            self._draw()
        if number == _TIMED:
            self.line(
                f"Estimate from {_TIMED} timed steps: {self.left()}; games grow longer, and checkpoints come on top."
            )
        if self.live is None and self.shown and (number % _EVERY == 0 or number in (1, 2, total)):
            numbers = "  ".join(f"{label} {form.format(row[key])}" for key, label, form in SHOWN)
            self.console.print(f"step {number}/{total}  {numbers}  {self.left()}", highlight=False, soft_wrap=True)

    def left(self) -> str:
        """The estimated time of the remaining steps, from the last twenty; checkpoints come on top."""
        recent = self.seconds[-20:]
        if len(recent) < _TIMED:
            return "time left: not known yet"
        seconds = sum(recent) / len(recent) * (self.total - self.row["step"] - 1)
        return f"time left {int(seconds // 60)}:{int(seconds % 60):02d}"

    def _draw(self) -> None:
        assert self.live is not None
        parts: list[Table | Text] = [Text(text) for text in self.recent]
        if self.row:
            table = Table(title=f"step {int(self.row['step']) + 1} of {self.total}, {self.left()}")
            for _, label, _ in SHOWN:
                table.add_column(label, justify="right")
            table.add_row(*(form.format(self.row[key]) for key, _, form in SHOWN))
            parts.append(table)
        self.live.update(Group(*parts), refresh=True)


def comparison(title: str, columns: Sequence[tuple[str, Sequence[HeldOutCell]]]) -> Table:
    """Held-out games of several models side by side: one row per model, size and way of play.

    Meals are per seat; `distinct` is the number of different games.
    """
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=0)
    for label in ("n", "play", "model", "deadlock", "efficiency", "meals", "fed", "Jain", "lost", "distinct"):
        table.add_column(label, justify="left" if label in ("play", "model") else "right", no_wrap=True)
    for cells in zip(*(column for _, column in columns), strict=True):
        for (name, _), cell in zip(columns, cells, strict=True):
            numbers = cell.numbers
            table.add_row(
                str(cell.n),
                "greedy" if cell.greedy else "sampled",
                name,
                f"{numbers['deadlock']:.2f}",
                f"{numbers['efficiency']:.2f}",
                f"{numbers['meals']:.2f}",
                f"{numbers['fed']:.0%}",
                f"{numbers['jain']:.2f}",
                f"{numbers['lost']:.1%}",
                f"{int(numbers['distinct'])}",
            )
        table.add_section()
    return table
