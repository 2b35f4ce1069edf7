"""`python -m inspect_dining replay`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspect_dining.cli.comparing import check_output, refuse_missing
from inspect_dining.errors import BadInput
from inspect_dining.files import write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType


@click.command(name="replay")
@click.argument("log", metavar="LOG")
@click.option("--sample", metavar="ID", help="A sample id, such as n05-s0-e007; the first game if left out.")
@click.option("--model", metavar="NAME", help="Part of a model's name, if several logs hold the game.")
@click.option("--epoch", type=click.IntRange(min=1), help="An epoch; the first if left out.")
@click.option(
    "--svg", type=click.Path(path_type=Path, dir_okay=False), help="Draw the whole game into this file, FILE.svg."
)
@click.option("--round", "number", type=click.IntRange(min=1), help="Show this round only, with what each seat said.")
@click.option("--seat", type=click.IntRange(min=0), help="Show this seat only, with what it said in every turn.")
@click.option("--step", is_flag=True, help="Step through the rounds with the arrow keys; q ends.")
def replay(
    log: str,
    sample: str | None,
    model: str | None,
    epoch: int | None,
    svg: Path | None,
    number: int | None,
    seat: int | None,
    step: bool,
) -> None:
    """Shows a game round by round.

    LOG is an Inspect log file, a folder of them, or a file with the JSON of one record.
    """
    if sum(given is not None for given in (number, seat, svg)) + step > 1:
        raise BadInput("--round, --seat, --step and --svg each show the game in their own way: give one of them.")
    if step and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput("--step reads the arrow keys and needs a terminal: use --round or --seat instead.")
    refuse_missing([log])
    if svg is not None:
        check_output(svg, ".svg")
    from inspect_dining.analysis.show.replay import game, shown

    show = shown(log, sample, epoch, model)
    if svg is None:
        from rich.console import Console
        from rich.text import Text

        console = Console(highlight=False)
        if number is None and seat is None and not step:
            console.print(game(show, console.width))
            return
        from inspect_dining.analysis.show.turns import round_in_detail, rounds_in_detail, seat_in_detail

        said = show.said()
        if step:
            _step(list(rounds_in_detail(show.record, said)), show.title, console)
        elif number is not None:
            console.print(Text(show.title, "bold"), round_in_detail(show.record, number, said))
        elif seat is not None:
            console.print(Text(show.title, "bold"), seat_in_detail(show.record, seat, said))
        return
    write(svg, show.record.to_svg(show.title))
    click.echo(f"Wrote {svg}.")


_BACK, _ON = ("\x1b[D", "\x1b[A", "k", "\xe0K", "\xe0H"), ("\x1b[C", "\x1b[B", "j", " ", "\r", "\n", "\xe0M", "\xe0P")
"""What a terminal sends for the arrow keys, and their letter alternatives."""


def _step(pages: "Sequence[RenderableType]", title: str, console: "Console") -> None:
    """Shows one page at a time, as the keys select it."""
    at = 0
    while True:
        console.clear()
        console.print(title, pages[at], "", "arrow keys: back and on; q: end", markup=False)
        key = click.getchar()
        if key in ("q", "Q", "\x1b", "\x03", "\x04"):
            return
        at += (key in _ON) - (key in _BACK)
        at = max(0, min(at, len(pages) - 1))
