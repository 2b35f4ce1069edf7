"""`python -m inspect_dining compare`, `report` and `replay`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn

from inspect_dining.analysis.collection import Collection, read
from inspect_dining.analysis.comparison import LADDER_EPISODES, Comparison
from inspect_dining.analysis.comparison import compare as compare_models
from inspect_dining.analysis.episodes import named_shaping
from inspect_dining.analysis.files import write
from inspect_dining.analysis.outcomes import OUTCOMES, PRIMARY
from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import Shaping

C = TypeVar("C", bound=Callable[..., object])


def _options(*options: Callable[[C], C]) -> Callable[[C], C]:
    """Several options as one decorator, in the order in which the help shows them."""

    def decorate(command: C) -> C:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_comparing = _options(
    click.argument("logs", nargs=-1, metavar="LOGS..."),
    click.option(
        "--primary",
        type=click.Choice(list(OUTCOMES)),
        default=PRIMARY,
        show_default=True,
        help="The primary outcome; all others are one family under Holm.",
    ),
    click.option("--baseline", help="Contrast only against this model (a unique part of its name)."),
    click.option("--separate", is_flag=True, help="Keep runs of unequal set-up apart instead of refusing them."),
    click.option("--shaping", help="Score every run's reward by this shaping instead of its own."),
    click.option("--weights", help="The four weights of paper and meal_gated: 1,0.5,0.3,0.1."),
    click.option("--throughput", type=click.Choice(["seat_rounds", "optimum"]), help="Their normaliser."),
    click.option("--variance", type=click.Choice(["population", "sample"]), help="Their variance of meals."),
    click.option(
        "--ladder",
        "ladder_episodes",
        type=click.IntRange(min=0),
        default=LADDER_EPISODES,
        show_default=True,
        help="Games of each scripted player beside the models; 0 for none.",
    ),
)


def _collection(logs: Sequence[str]) -> Collection:
    """Reads logs, with a counter where someone is watching."""
    if not logs:
        raise BadInput("No logs were given: name log files or folders, such as `logs`.")
    console = Console(stderr=True)
    with Progress(
        SpinnerColumn(), TextColumn("reading logs: {task.completed} episodes"), console=console, transient=True,
        disable=not console.is_terminal,
    ) as progress:  # fmt: skip
        task = progress.add_task("reading", total=None)
        return read(logs, on_sample=lambda: progress.advance(task))


def _compared(
    logs: Sequence[str],
    primary: str,
    baseline: str | None,
    separate: bool,
    shaping: str | None,
    weights: str | None,
    throughput: str | None,
    variance: str | None,
    ladder_episodes: int,
) -> tuple[Collection, Comparison, Shaping | None]:
    given = {"weights": weights, "throughput": throughput, "variance": variance}
    chosen = {name: value for name, value in given.items() if value is not None}
    if chosen and shaping is None:
        raise BadInput(f"--{next(iter(chosen))} belongs to a shaping: name one with --shaping.")
    shaped = None if shaping is None else named_shaping(shaping, **chosen)
    collection = _collection(logs)
    found = compare_models(
        collection,
        primary=primary,
        separate=separate,
        shaping=shaped,
        baseline=baseline,
        ladder_episodes=ladder_episodes,
    )
    return collection, found, shaped


@click.command(name="compare")
@_comparing
@click.option("--json", "form", flag_value="json", help="Print JSON instead of tables; null is undefined or unknown.")
@click.option("--csv", "form", flag_value="csv", help="Print CSV, one number a line.")
@click.option("--latex", "form", flag_value="latex", help="Print LaTeX tables (booktabs).")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file instead of printing."
)
def compare(
    logs: tuple[str, ...],
    primary: str,
    baseline: str | None,
    separate: bool,
    shaping: str | None,
    weights: str | None,
    throughput: str | None,
    variance: str | None,
    ladder_episodes: int,
    form: str | None,
    output: Path | None,
) -> None:
    """Compares the models of some logs on equal games.

    LOGS are Inspect log files or folders of them. For each n: what became of the planned episodes, every score with its
    interval, deadlock by rounds, what independent seats and scripted players come to, and contrasts between the models.
    """
    _, found, _ = _compared(logs, primary, baseline, separate, shaping, weights, throughput, variance, ladder_episodes)
    if form is None:
        from inspect_dining.analysis.tables import comparison_tables

        if output is None:
            Console(highlight=False).print(comparison_tables(found))
            return
        console = Console(highlight=False, width=100, file=None, record=True, quiet=False, force_terminal=False)
        with console.capture() as captured:
            console.print(comparison_tables(found))
        text = captured.get()
    else:
        from inspect_dining.analysis.export import to_csv, to_json, to_latex

        text = {"json": to_json, "csv": to_csv, "latex": to_latex}[form](found)
        for note in found.notes:
            click.echo(note, err=True)
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        write(output, text)


@click.command(name="report")
@_comparing
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), default=Path("report.html"),
    show_default=True, help="The file to write.",
)  # fmt: skip
@click.option("--title", default="A comparison of dinners", show_default=True, help="Its title.")
@click.option(
    "--episode", "chosen", multiple=True, metavar="ID",
    help="A sample id whose games are shown round by round; else one typical game of each model and n.",
)  # fmt: skip
def report(
    logs: tuple[str, ...],
    primary: str,
    baseline: str | None,
    separate: bool,
    shaping: str | None,
    weights: str | None,
    throughput: str | None,
    variance: str | None,
    ladder_episodes: int,
    output: Path,
    title: str,
    chosen: tuple[str, ...],
) -> None:
    """Writes one HTML file about some logs that opens without a network.

    LOGS are Inspect log files or folders of them. The file holds the tables of `compare`, deadlock against n, survival,
    meals by seat, contrasts, the audit of the reward used, and games round by round.
    """
    from inspect_dining.analysis.report import page

    if not output.parent.is_dir():
        raise BadInput(f"{output} cannot be written: there is no folder {output.parent}.")
    collection, found, shaped = _compared(
        logs, primary, baseline, separate, shaping, weights, throughput, variance, ladder_episodes
    )
    write(output, page(collection, found, title, chosen, shaped))
    click.echo(f"Wrote {output} ({output.stat().st_size / 1e6:.1f} MB).")


@click.command(name="replay")
@click.argument("log", metavar="LOG")
@click.option("--sample", metavar="ID", help="A sample id, such as n05-s0-e007; the first game if left out.")
@click.option("--epoch", type=click.IntRange(min=1), help="An epoch; the first if left out.")
@click.option(
    "--svg", type=click.Path(path_type=Path, dir_okay=False), help="Draw the whole game into this file instead."
)
def replay(log: str, sample: str | None, epoch: int | None, svg: Path | None) -> None:
    """Shows a game round by round.

    LOG is an Inspect log file, a folder of them, or a file with the JSON of one record.
    """
    from inspect_dining.analysis.replay import game, shown

    show = shown(log, sample, epoch)
    if svg is None:
        console = Console(highlight=False)
        console.print(game(show, console.width))
        return
    from inspect_dining.analysis.strip import game_figure

    write(svg, game_figure(show.record, show.title))
    click.echo(f"Wrote {svg}.")
