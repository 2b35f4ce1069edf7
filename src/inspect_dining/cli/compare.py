"""`python -m inspect_dining compare`."""

from collections.abc import Mapping
from pathlib import Path

import click

from inspect_dining.cli.comparing import check_output, compare_logs, comparing
from inspect_dining.errors import BadInput
from inspect_dining.files import write

_FORMS = {".json": "json", ".csv": "csv", ".tex": "latex"}
"""The output format that each file extension selects."""


@click.command(name="compare")
@comparing
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables; null is undefined or unknown.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, one number per line.")
@click.option("--latex", "as_latex", is_flag=True, help="Print LaTeX tables (booktabs).")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file instead of printing: .json, .csv and .tex select that format, any other is text.",
)  # fmt: skip
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
    as_json: bool,
    as_csv: bool,
    as_latex: bool,
    output: Path | None,
) -> None:
    """Compares the models of some logs on the same games.

    LOGS are Inspect log files or folders of them. For each n: what became of the planned episodes, every score with its
    interval, deadlock by round, the reference values of independent seats and scripted players, and contrasts between
    models.
    """
    form = _form({"json": as_json, "csv": as_csv, "latex": as_latex}, output)
    _, found, _ = compare_logs(
        logs, primary, baseline, separate, shaping, weights, throughput, variance, ladder_episodes
    )
    if form is None:
        from rich.console import Console

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


def _form(flags: Mapping[str, bool], output: Path | None) -> str | None:
    """The format that the flags or the file extension select; None for tables.

    Raises:
        BadInput: They select two formats.
    """
    wanted = [name for name, given in flags.items() if given]
    if len(wanted) > 1:
        raise BadInput(f"--{' and --'.join(wanted)} cannot be combined: choose one format.")
    if output is None:
        return wanted[0] if wanted else None
    check_output(output)
    of_file = _FORMS.get(output.suffix.lower())
    if wanted and of_file is not None and of_file != wanted[0]:
        raise BadInput(f"--{wanted[0]} and {output} cannot be combined: {output.suffix} selects {of_file}.")
    return wanted[0] if wanted else of_file
