"""`python -m inspect_dining report`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspect_dining.analysis.show.report.pdf import find_browser, print_pdf, save_figures
from inspect_dining.cli.comparing import check_output, compare_logs, comparing
from inspect_dining.files import write

if TYPE_CHECKING:
    from inspect_dining.analysis.show.report.page import Paper


@click.command(name="report")
@comparing
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), default=Path("report.html"),
    show_default=True, help="The file to write: FILE.html, or FILE.pdf, which a Chromium on PATH prints.",
)  # fmt: skip
@click.option("--title", default="A comparison of dinners", show_default=True, help="Title of the report.")
@click.option(
    "--episode", "chosen", multiple=True, metavar="ID",
    help="A sample id whose games are shown round by round; by default one typical game per model and n.",
)  # fmt: skip
@click.option("--paper", type=click.Choice(["A4", "letter"]), default="A4", show_default=True, help="Paper size.")
@click.option(
    "--figures", type=click.Path(path_type=Path, file_okay=False),
    help="Write every figure into this folder too, as SVG and, if a Chromium is on PATH, as PDF.",
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
    paper: "Paper",
    figures: Path | None,
) -> None:
    """Writes one self-contained HTML or PDF file about some logs.

    LOGS are Inspect log files or folders of them. The file holds the tables of `compare`, deadlock against n, survival,
    meals by seat, contrasts, the audit of the reward used, and games round by round.
    """
    check_output(output, ".html", ".htm", ".pdf")
    if output.suffix.lower() == ".pdf":
        find_browser()
    collection, found, shaped = compare_logs(
        logs, primary, baseline, separate, shaping, weights, throughput, variance, ladder_episodes
    )
    from inspect_dining.analysis.show.report.page import page

    whole = page(collection, found, title, chosen, shaped, paper)
    if output.suffix.lower() == ".pdf":
        write(output, print_pdf(whole))
    else:
        write(output, whole)
    click.echo(f"Wrote {output} ({output.stat().st_size / 1e6:.1f} MB).")
    if figures is not None:
        save_figures(whole, figures)
        click.echo(f"Wrote its figures into {figures}.")
