"""`python -m inspect_dining replay`."""

from pathlib import Path

import click

from inspect_dining.cli.comparing import check_output, refuse_missing
from inspect_dining.files import write


@click.command(name="replay")
@click.argument("log", metavar="LOG")
@click.option("--sample", metavar="ID", help="A sample id, such as n05-s0-e007; the first game if left out.")
@click.option("--model", metavar="NAME", help="A part of a model's name, where several logs hold the game.")
@click.option("--epoch", type=click.IntRange(min=1), help="An epoch; the first if left out.")
@click.option(
    "--svg", type=click.Path(path_type=Path, dir_okay=False), help="Draw the whole game into this file, FILE.svg."
)
def replay(log: str, sample: str | None, model: str | None, epoch: int | None, svg: Path | None) -> None:
    """Shows a game round by round.

    LOG is an Inspect log file, a folder of them, or a file with the JSON of one record.
    """
    refuse_missing([log])
    if svg is not None:
        check_output(svg, ".svg")
    from inspect_dining.analysis.show.replay import game, shown

    show = shown(log, sample, epoch, model)
    if svg is None:
        from rich.console import Console

        console = Console(highlight=False)
        console.print(game(show, console.width))
        return
    from inspect_dining.analysis.show.game_figure import game_figure

    write(svg, game_figure(show.record, show.title))
    click.echo(f"Wrote {svg}.")
