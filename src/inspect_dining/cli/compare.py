"""`python -m inspect_dining compare`."""

from pathlib import Path

import click
from rich.console import Console

from inspect_dining.cli.comparing import compare_logs, comparing
from inspect_dining.files import write


@click.command(name="compare")
@comparing
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
    _, found, _ = compare_logs(
        logs, primary, baseline, separate, shaping, weights, throughput, variance, ladder_episodes
    )
    if form is None:
        from inspect_dining.analysis.show.tables import comparison_tables

        if output is None:
            Console(highlight=False).print(comparison_tables(found))
            return
        console = Console(highlight=False, width=100, file=None, record=True, quiet=False, force_terminal=False)
        with console.capture() as captured:
            console.print(comparison_tables(found))
        text = captured.get()
    else:
        from inspect_dining.analysis.show.export import to_csv, to_json, to_latex

        text = {"json": to_json, "csv": to_csv, "latex": to_latex}[form](found)
        for note in found.notes:
            click.echo(note, err=True)
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        write(output, text)
