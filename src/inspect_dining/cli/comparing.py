"""What `compare` and `report` share: their options, and the comparison that the options describe."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspect_dining.cli.options import options
from inspect_dining.errors import BadInput
from inspect_dining.scorers.catalogue import PRIMARY, SCORES
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.scorers.shaping import shaping as shaping_named

if TYPE_CHECKING:
    from inspect_dining.analysis.comparison.compare import Comparison
    from inspect_dining.analysis.inputs.collection import Collection

comparing = options(
    click.argument("logs", nargs=-1, metavar="LOGS..."),
    click.option(
        "--primary",
        type=click.Choice(list(SCORES)),
        default=PRIMARY,
        show_default=True,
        help="The primary outcome; all others are one family under Holm.",
    ),
    click.option("--baseline", help="Contrast only against this model (a unique part of its name)."),
    click.option("--separate", is_flag=True, help="Keep runs with different settings apart instead of refusing them."),
    click.option("--shaping", help="Score every run's reward by this shaping instead of its own."),
    click.option("--weights", help="The four weights of paper and meal_gated: 1,0.5,0.3,0.1."),
    click.option("--throughput", type=click.Choice(["seat_rounds", "optimum"]), help="Their normaliser."),
    click.option(
        "--variance", type=click.Choice(["population", "sample"]), help="Variance of meals in paper and meal_gated."
    ),
    click.option(
        "--ladder",
        "ladder_episodes",
        type=click.IntRange(0, 10_000),
        default=100,
        show_default=True,
        help="Games per scripted player shown alongside the models; 0 for none.",
    ),
)
"""The argument and the options that `compare` and `report` share."""


def refuse_missing(logs: Sequence[str]) -> None:
    """Refuses missing logs before any slow import.

    Raises:
        BadInput: No log is named, or one does not exist.
    """
    if not logs:
        raise BadInput("No logs were given: name log files or folders, such as `logs`.")
    for log in logs:
        if "://" not in log and not Path(log).exists():
            raise BadInput(f"{log} does not exist; name a log file or a folder of logs.")


def check_output(file: Path, *suffixes: str) -> None:
    """Refuses a file that cannot be written, before any log is read.

    Args:
        file: The file.
        suffixes: The extensions that are accepted; any extension if empty.

    Raises:
        BadInput: Its folder does not exist, or its extension is not accepted.
    """
    if suffixes and file.suffix.lower() not in suffixes:
        raise BadInput(f"{file} is not accepted: the file must end in {' or '.join(suffixes)}.")
    if not file.parent.is_dir():
        raise BadInput(f"{file} cannot be written: there is no folder {file.parent}.")


def read_logs(logs: Sequence[str]) -> "Collection":
    """Reads logs, with a progress counter on a terminal."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    from inspect_dining.analysis.inputs.collection import read

    console = Console(stderr=True)
    with Progress(
        SpinnerColumn(), TextColumn("reading logs: {task.completed} episodes"), console=console, transient=True,
        disable=not console.is_terminal,
    ) as progress:  # fmt: skip
        task = progress.add_task("reading", total=None)
        return read(logs, on_sample=lambda: progress.advance(task))


def compare_logs(
    logs: Sequence[str],
    primary: str,
    baseline: str | None,
    separate: bool,
    shaping: str | None,
    weights: str | None,
    throughput: str | None,
    variance: str | None,
    ladder_episodes: int,
) -> "tuple[Collection, Comparison, Shaping | None]":
    """Reads logs and compares their models, as the options of `comparing` specify."""
    given = {"weights": weights, "throughput": throughput, "variance": variance}
    chosen = {name: value for name, value in given.items() if value is not None}
    if chosen and shaping is None:
        raise BadInput(f"--{next(iter(chosen))} belongs to a shaping: name one with --shaping.")
    refuse_missing(logs)
    if shaping is not None and ":" not in shaping and not chosen:
        shaping_named(shaping)  # refuses an unknown name before any slow import
    from inspect_dining.analysis.comparison.compare import compare as compare_models
    from inspect_dining.analysis.inputs.episodes import named_shaping

    shaped = None if shaping is None else named_shaping(shaping, **chosen)
    collection = read_logs(logs)
    found = compare_models(
        collection,
        primary=primary,
        separate=separate,
        shaping=shaped,
        baseline=baseline,
        ladder_episodes=ladder_episodes,
    )
    return collection, found, shaped
