"""`python -m inspect_dining report`."""

from pathlib import Path

import click

from inspect_dining.cli.comparing import check_output, compare_logs, comparing
from inspect_dining.files import write


@click.command(name="report")
@comparing
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
    check_output(output, ".html", ".htm")
    collection, found, shaped = compare_logs(
        logs, primary, baseline, separate, shaping, weights, throughput, variance, ladder_episodes
    )
    from inspect_dining.analysis.show.report import page

    write(output, page(collection, found, title, chosen, shaped))
    click.echo(f"Wrote {output} ({output.stat().st_size / 1e6:.1f} MB).")
