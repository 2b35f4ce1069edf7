"""`python -m inspect_dining export`."""

from pathlib import Path
from typing import Literal

import click

from inspect_dining.cli.comparing import check_output, refuse_missing
from inspect_dining.errors import BadInput
from inspect_dining.files import write


@click.command(name="export")
@click.argument("logs", nargs=-1, metavar="LOGS...")
@click.option(
    "--by", type=click.Choice(["game", "seat", "turn"]), default="game", show_default=True, help="What one row is."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True,
    help="The file to write: .csv or .parquet.",
)  # fmt: skip
def export_command(logs: tuple[str, ...], by: Literal["game", "seat", "turn"], output: Path) -> None:
    """Writes the games of some logs as one tidy table, for your own statistics.

    LOGS are Inspect log files or folders of them. A row is a game, with its model, prompt, n, T, epoch, outcome, ten
    scores, and the meals, lost turns and tokens of every seat; with --by, a row is a seat or a turn.
    """
    refuse_missing(logs)
    check_output(output, ".csv", ".parquet")
    from inspect_dining.analysis.inputs.frames import frame
    from inspect_dining.border import cell

    rows = frame(list(logs), by=by)
    if output.suffix.lower() == ".csv":
        texts = rows.select_dtypes(["str", "object"]).columns
        rows[texts] = rows[texts].map(cell)
        data: str | bytes = rows.to_csv(index=False, lineterminator="\n")
    else:
        try:
            data = rows.to_parquet(index=False)
        except ImportError:
            raise BadInput(
                f"{output} is not written: Parquet needs pyarrow. Run pip install 'inspect_dining[analysis]', or write "
                "a .csv."
            ) from None
    write(output, data)
    click.echo(f"{output} has {len(rows)} rows, one for each {by}.")
