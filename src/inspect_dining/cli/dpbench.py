"""`python -m inspect_dining dpbench`."""

from pathlib import Path

import click

from inspect_dining.cli.comparing import check_output
from inspect_dining.errors import BadInput
from inspect_dining.files import write


@click.command(name="dpbench")
@click.argument("paths", nargs=-1, metavar="PATHS...")
@click.option("--contrasts", "pairs", is_flag=True, help="Test all pairs of models under one condition.")
@click.option("--csv", "table", type=click.Path(path_type=Path, dir_okay=False), help="Write the cells to FILE.csv.")
@click.option("--figure", type=click.Path(path_type=Path, dir_okay=False), help="Draw the deadlock rates to FILE.svg.")
def dpbench_command(paths: tuple[str, ...], pairs: bool, table: Path | None, figure: Path | None) -> None:
    """Scores DPBench's results again and shows them alongside our own games.

    PATHS are logs (.jsonl) and tables (.csv) that dpbench wrote, Inspect logs of `inspect_dining/dpbench`, or folders.
    """
    if not paths:
        raise BadInput("No results were given: name files of dpbench's, Inspect logs, or folders of them.")
    for file, suffix in ((table, ".csv"), (figure, ".svg")):
        if file is not None:
            check_output(file, suffix)
    missing = next((path for path in paths if not Path(path).exists()), None)
    if missing is not None:
        raise BadInput(f"{missing} does not exist; name a file of dpbench's, an Inspect log, or a folder of them.")
    from rich.console import Console

    from inspect_dining.analysis.comparison.dpbench import cells, contrasts, summary
    from inspect_dining.analysis.show.dpbench import cells_csv, deadlock_figure, dpbench_tables

    notes: list[str] = []
    results = cells(paths, notes)
    summaries = [summary(cell) for cell in results]
    console = Console(highlight=False)
    console.print(dpbench_tables(summaries, contrasts(results) if pairs else [], notes))
    if table is not None:
        write(table, cells_csv(summaries))
        click.echo(f"Wrote {table}.")
    if figure is not None:
        write(figure, deadlock_figure(summaries))
        click.echo(f"Wrote {figure}.")
