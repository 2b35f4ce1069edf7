"""The chapters of a report on mixed tables and on games with faults, if its logs hold any."""

from inspect_dining.analysis.comparison.compare import Comparison
from inspect_dining.analysis.show.figures import plots
from inspect_dining.analysis.show.figures.matrix import matrix_figure
from inspect_dining.analysis.show.report import html
from inspect_dining.analysis.show.report.html import text
from inspect_dining.analysis.show.tables import fault_cells, fault_heads, named
from inspect_dining.crossplay.tables import LEGEND, short


def mixed_tables(found: Comparison) -> list[str]:
    """The chapters on faults and on mixed tables, as pieces of HTML; empty if no log holds any."""
    parts = []
    for section, title in zip(found.sections, plots.titles(found.sections), strict=True):
        if any(row.beside_faults for row in section.rows):
            heads = fault_heads(section.rows)
            rows = [[named(row), *fault_cells(row, len(heads))] for row in section.rows]
            faults = section.rules.faults or "of providers"
            caption = f"{title}: the seats without a fault, means with 95% intervals (faults {faults})."
            parts += [text("h2", "Beside faults"), html.table(["model", *heads], rows, caption)]
        matrix = section.matrix
        if matrix is None:
            continue
        parts += [
            text("h2", "Mixed tables"),
            html.picture(
                matrix_figure(matrix),
                "Efficiency and deadlocks of every pair of models at one table, each alone on the diagonal.",
                f"{title}: cross-play. Mean efficiency and share of deadlocks; on the diagonal each model alone.",
            ),
        ]
        rows = [
            [
                " & ".join(dict.fromkeys(pair)),
                str(cell.efficiency.episodes),
                short(cell.efficiency),
                short(cell.deadlock),
                " / ".join(short(meals, 1) for meals in cell.meals.values()),
            ]
            for pair, cell in matrix.cells.items()
        ]
        heads = ["models", "games", "efficiency", "deadlock", "meals of a seat"]
        parts.append(html.table(heads, rows, f"{title}: tables of one and of two models."))
        if matrix.mixings:
            rows = [
                [" & ".join(m.players), short(m.loss), short(m.deadlocks), *(short(m.meals[p], 1) for p in m.players)]
                for m in matrix.mixings
            ]
            heads = ["models", "efficiency lost", "deadlocks made", "meals of the first", "of the second"]
            parts.append(html.table(heads, rows, f"{title}: what mixing does against both models alone."))
        if matrix.regrets:
            rows = [[r.player, r.partner, r.best, short(r.regret)] for r in matrix.regrets]
            heads = ["model", "with", "best response", "regret"]
            parts.append(html.table(heads, rows, f"{title}: regret against the best response to each model."))
        parts.append(text("p", LEGEND, class_="small"))
    return parts
