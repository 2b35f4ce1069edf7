"""DPBench's results and ours: a table for the terminal, a CSV, and a figure."""

import csv
from collections.abc import Sequence
from io import StringIO

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from inspect_dining.analysis.comparison.dpbench import METRICS, CellContrast, CellSummary
from inspect_dining.analysis.show.figures.style import COLOURS, MARKERS, style, svg
from inspect_dining.analysis.show.formatting import estimate, interval, number, p_value
from inspect_dining.border import cell
from inspect_dining.statistics import Estimate

_NOTE = (
    "The episode is the unit. Intervals are 95%, Wilson's for deadlock, and left out where none would hold; "
    "consistency is pooled over messages. `reported` is what dpbench reports. `again` is scored from the states: a "
    "last state in which every philosopher is hungry and holds one fork is a deadlock, fairness is 0 where nobody ate, "
    "and every decision counts once. In tables of whole cells nothing can be scored again."
)


def dpbench_tables(
    summaries: Sequence[CellSummary], contrasts: Sequence[CellContrast], notes: Sequence[str]
) -> RenderableType:
    """All tables: each cell with its six metrics, then the requested contrasts."""
    rates = _table("Deadlock and fairness, as reported and scored again")
    for head in ("condition", "model", "version", "episodes", "deadlock", "again", "fairness", "again"):
        rates.add_column(head, justify="left" if head in ("condition", "model") else "right", overflow="fold")
    others = _table("The other metrics, scored again")
    for head in ("condition", "model", "throughput", "time to deadlock", "starvation", "consistency %", "phantoms"):
        others.add_column(head, justify="left" if head in ("condition", "model") else "right", overflow="fold")
    for one in summaries:
        cell, again = one.cell, one.corrected
        names = [Text(cell.condition), Text(cell.model)]
        rates.add_row(
            *names,
            Text(cell.version),
            str(one.episodes),
            estimate(one.reported["deadlock"], share=True),
            estimate(again["deadlock"], share=True) if one.proven else "-",
            estimate(one.reported["fairness"]),
            estimate(again["fairness"]) if one.episodes and not cell.row else "-",
        )
        others.add_row(
            *names,
            *(estimate(again[name]) for name in ("throughput", "time_to_deadlock", "starvation")),
            "-" if again["consistency"].mean is None else number(again["consistency"].mean, 1),
            "-" if one.phantoms is None else str(one.phantoms),
        )
    parts: list[RenderableType] = [rates, "", others]
    if contrasts:
        parts += ["", _contrasts(contrasts)]
    parts += ["", Text(_NOTE, "dim"), *(Text(f"- {note}", "yellow") for note in notes)]
    return Group(*parts)


def _contrasts(contrasts: Sequence[CellContrast]) -> Table:
    table = _table("Deadlock scored again: all pairs under one condition, p adjusted by Holm")
    for head in ("condition", "first", "second", "second - first", "95% interval", "test", "p"):
        table.add_column(head, overflow="fold")
    for one in contrasts:
        table.add_row(
            Text(one.condition), Text(one.first), Text(one.second),
            number(one.difference, 2), interval(one.interval), one.test, p_value(one.p),
        )  # fmt: skip
    return table


def _table(title: str) -> Table:
    return Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="",
    )


def cells_csv(summaries: Sequence[CellSummary]) -> str:
    """One line per cell: every metric as reported and as rescored, with the ends of its interval."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    kinds = ("reported", "again")
    heads = [f"{metric.name}_{kind}{end}" for metric in METRICS for kind in kinds for end in ("", "_low", "_high")]
    writer.writerow(["condition", "model", "version", "episodes", "phantom_episodes", *heads])
    for one in summaries:
        values: list[str] = []
        for metric in METRICS:
            values += _cells(one.reported[metric.name])
            scored = one.proven if metric.name in ("deadlock", "time_to_deadlock") else not one.cell.row
            values += _cells(one.corrected[metric.name]) if scored else ["", "", ""]
        names = [cell(text) for text in (one.cell.condition, one.cell.model, one.cell.version)]
        writer.writerow([*names, one.episodes, "" if one.phantoms is None else one.phantoms, *values])
    return file.getvalue()


def _cells(value: Estimate) -> list[str]:
    ends = ["", ""] if value.interval is None else [f"{value.interval.low:.6g}", f"{value.interval.high:.6g}"]
    return ["" if value.mean is None else f"{value.mean:.6g}", *ends]


def deadlock_figure(summaries: Sequence[CellSummary]) -> str:
    """Deadlock rates by condition, with Wilson's intervals: filled as rescored, hollow as reported if that differs.

    Returns:
        The figure as SVG text.
    """
    from matplotlib.figure import Figure

    conditions = list(dict.fromkeys(one.cell.condition for one in summaries))
    players = list(dict.fromkeys((one.cell.model, one.cell.version) for one in summaries))
    with style():
        height = 1.2 + 0.22 * sum(1 for _ in summaries) + 0.2 * len(conditions)
        figure = Figure(figsize=(7.2, height), layout="constrained")
        axes = figure.add_subplot()
        place = 0.0
        ticks: list[tuple[float, str]] = []
        labelled: set[int] = set()
        for condition in conditions:
            here = [one for one in summaries if one.cell.condition == condition]
            ticks.append((place + (len(here) - 1) / 2, condition))
            for one in here:
                player = players.index((one.cell.model, one.cell.version))
                colour, marker = COLOURS[player % len(COLOURS)], MARKERS[player % len(MARKERS)]
                shown = one.corrected["deadlock"] if one.proven else one.reported["deadlock"]
                before = one.reported["deadlock"]
                if before.mean is not None and before.mean != shown.mean:
                    axes.plot([before.mean], [place], marker, color=colour, fillstyle="none")
                if shown.mean is not None and shown.interval is not None:
                    label = "" if player in labelled else f"{one.cell.model} ({one.cell.version})"
                    labelled.add(player)
                    reach = [[max(0.0, shown.mean - shown.interval.low)], [max(0.0, shown.interval.high - shown.mean)]]
                    axes.errorbar([shown.mean], [place], xerr=reach, fmt=marker, color=colour, label=label or None)
                place += 1
            place += 0.8
        axes.set_yticks([at for at, _ in ticks], [name.replace("$", r"\$") for _, name in ticks])
        axes.invert_yaxis()
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel("share of episodes that deadlock (hollow: as reported by dpbench)")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, [text.replace("$", r"\$") for text in labels], loc="outside lower center", ncols=2)
        return svg(figure)
