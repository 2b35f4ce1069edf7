"""A comparison as JSON, CSV and LaTeX.

An undefined or unknown value is null in JSON, a word in CSV and a dash in LaTeX. CSV is long: one number per line.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from inspect_dining.analysis.comparison.compare import Comparison, Section
from inspect_dining.analysis.comparison.contrasts import Contrast
from inspect_dining.analysis.comparison.rows import Row
from inspect_dining.analysis.show import formatting
from inspect_dining.analysis.show.tables import PANELS, cost, heading, legend, named, pairing, test_name
from inspect_dining.border import cell
from inspect_dining.crossplay.tables import plain
from inspect_dining.scorers.catalogue import SCORES
from inspect_dining.statistics import LEVEL, Estimate, Interval

CSV_COLUMNS = (
    "n", "setup", "model", "against", "measure", "value", "low", "high", "episodes", "p", "p_holm", "test"
)  # fmt: skip
"""The columns of the CSV; `against` is empty except for contrasts."""


def to_json(found: Comparison) -> str:
    """The comparison as indented JSON; null is undefined, or unknown for costs."""
    data = {
        "primary": found.primary,
        "level": LEVEL,
        "notes": list(found.notes),
        "tables": [
            {
                "n": section.n,
                "setup": dict(section.setup),
                "models": [_row(row) for row in section.rows],
                "ladder": [_row(row) for row in section.ladder],
                "contrasts": [_contrast(contrast) for contrast in section.contrasts],
                **({} if section.matrix is None else {"crossplay": plain(section.matrix)}),
            }
            for section in found.sections
        ],
    }
    return json.dumps(data, indent=1, allow_nan=False)


def _estimate(found: Estimate) -> dict[str, float | str | None]:
    plain = {"episodes": found.episodes, "games": found.games, "no_interval_because": found.why or None}
    return {**found.ends(), **plain}


def _row(row: Row) -> dict[str, object]:
    summary = row.summary
    data: dict[str, object] = {
        "label": row.label,
        "scores": {name: _estimate(one) for name, one in summary.estimates.items()},
        "survival": {str(number): _estimate(one) for number, one in summary.survival.items()},
        "meals": summary.meals,
        "meals_by_seat": [_estimate(one) for one in summary.seats],
        "turns": summary.turns,
        "lost_by_kind": {str(kind): count for kind, count in summary.lost.items()},
    }
    if row.seated:
        data["seated"] = list(row.seated)
    if row.counts is not None:
        data |= asdict(row.counts)
    if row.spent is not None:
        data |= asdict(row.spent)
    if row.beside_faults is not None:
        data["beside_faults"] = {name: _estimate(one) for name, one in row.beside_faults.scores.items()}
        data["starved_by_distance"] = [_estimate(one) for one in row.beside_faults.starved]
    if row.first is not None:
        data["first_round"] = {**asdict(row.first), "locked": _estimate(row.first.locked)}
    return data


def _contrast(contrast: Contrast) -> dict[str, object]:
    below, above = contrast.detectable
    return {
        "first": contrast.first.label,
        "second": contrast.second.label,
        "outcome": contrast.outcome,
        "primary": contrast.primary,
        "difference": contrast.difference,
        "interval": None if contrast.interval is None else asdict(contrast.interval),
        "p": contrast.p,
        "p_holm": contrast.p_holm,
        "test": test_name(contrast),
        "means": None if contrast.means is None else asdict(contrast.means),
        "paired_games": contrast.pairs,
        "unpaired_p": contrast.unpaired_p,
        "no_test_because": contrast.why or None,
        "detectable": {"below": below, "above": above},
    }


def to_csv(found: Comparison) -> str:
    """The comparison as CSV, one number per line (see `CSV_COLUMNS`)."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for section in found.sections:
        setup = cell("; ".join(f"{name}={value}" for name, value in section.setup))
        for row in (*section.rows, *section.ladder):
            label = cell(row.label if row.counts is not None else f"scripted {row.label}")
            for line in _lines(row):
                writer.writerow((section.n, setup, label, "", *line, "", "", ""))
        for contrast in section.contrasts:
            writer.writerows(
                (section.n, setup, cell(contrast.second.label), cell(contrast.first.label), *line)
                for line in _tests(contrast)
            )
    return file.getvalue()


def _ends(interval: Interval | None) -> tuple[float | str, float | str]:
    return (formatting.UNDEFINED, formatting.UNDEFINED) if interval is None else (interval.low, interval.high)


def _lines(row: Row) -> Iterator[tuple[object, ...]]:
    """Measure, value, low, high and episodes of everything in a row."""
    summary = row.summary
    told = {
        **summary.estimates,
        **{f"survival_{number}": one for number, one in summary.survival.items()},
        **{f"meals_seat_{seat}": one for seat, one in enumerate(summary.seats)},
        **({"locked_in_round_1": row.first.locked} if row.first else {}),
    }
    for name, one in told.items():
        yield name, formatting.UNDEFINED if one.mean is None else one.mean, *_ends(one.interval), one.episodes
    plain: dict[str, object] = {f"lost_{kind}": count for kind, count in summary.lost.items()}
    plain |= {"turns": summary.turns, "meals": summary.meals}
    if row.counts is not None:
        plain |= asdict(row.counts)
    if row.first is not None:
        plain |= {"left_first": row.first.left, "right_first": row.first.right}
        plain["independent_would_lock"] = row.first.independent
    if row.spent is not None:
        spent, unknown = row.spent, formatting.UNKNOWN
        plain |= {"tokens": spent.tokens, "cost": unknown if spent.cost is None else spent.cost}
        each = formatting.UNDEFINED if spent.tokens_per_meal is None else spent.tokens_per_meal
        plain |= {"tokens_per_meal": each}
        plain |= {"cost_per_meal": cost(row) if spent.cost_per_meal is None else spent.cost_per_meal}
        plain |= {f"tokens_seat_{seat}": tokens for seat, tokens in enumerate(spent.tokens_by_seat)}
    for name, value in plain.items():
        yield name, value, "", "", ""


def _tests(contrast: Contrast) -> Iterator[tuple[object, ...]]:
    p, p_holm = (formatting.UNDEFINED if one is None else one for one in (contrast.p, contrast.p_holm))
    difference = formatting.UNDEFINED if contrast.difference is None else contrast.difference
    yield contrast.outcome, difference, *_ends(contrast.interval), "", p, p_holm, test_name(contrast)
    test = contrast.means
    g, ends = (formatting.UNDEFINED, None) if test is None else (test.g, test.g_interval)
    yield (
        f"{contrast.outcome} (Hedges' g)",
        g,
        *_ends(ends),
        "",
        formatting.UNDEFINED if test is None else test.p,
        "",
        "" if test is None else test.name,
    )


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "<": r"$<$", ">": r"$>$",
}  # fmt: skip


_DASH = "--"
"""The LaTeX form of an undefined number."""


def to_latex(found: Comparison) -> str:
    """The comparison as LaTeX tables (needs the package booktabs)."""
    comments = (" ".join(line.split()) for line in (legend(found), *found.notes))
    parts = [r"% Needs \usepackage{booktabs}.", *(f"% {line}" for line in comments)]
    for section in found.sections:
        parts += [_latex_scores(section, names) for names in PANELS]
        if section.contrasts:
            parts.append(_latex_contrasts(section, found.primary))
    return "\n\n".join(parts) + "\n"


def _latex_scores(section: Section, names: Sequence[str]) -> str:
    rows = [["model", "games", *(f"{name} (best {SCORES[name].best})" for name in names)]]
    for row in (*section.rows, *section.ladder):
        estimates = row.summary.estimates
        cells = [formatting.estimate(estimates.get(name), SCORES[name].share) for name in names]
        games = str(len(set(row.summary.games)))
        rows.append([named(row) if row.counts is not None else f"scripted: {row.label}", games, *cells])
    caption = f"Scores at {heading(section)}; means with 95% intervals where valid."
    return _latex_table(rows, caption, len(section.rows), texts=1)


def _latex_contrasts(section: Section, primary: str) -> str:
    rows = [["outcome", "contrast", "test", "difference", "95% interval", "Hedges' g", "p", "p (Holm)"]]
    rows += [
        [
            one.outcome,
            f"{one.second.letter} - {one.first.letter}",
            test_name(one) or "none",
            formatting.number(one.difference),
            formatting.interval(one.interval),
            formatting.UNDEFINED if one.means is None else formatting.number(one.means.g, 2),
            formatting.p_value(one.p),
            formatting.p_value(one.p_holm),
        ]
        for one in section.contrasts
    ]
    first = sum(1 for contrast in section.contrasts if contrast.primary)
    caption = f"Contrasts at {heading(section)}; {primary} is the primary outcome. {pairing(section.contrasts[:first])}"
    return _latex_table(rows, caption, first, texts=3)


_HEADS = {"Hedges' g": "Hedges' $g$", "p": "$p$", "p (Holm)": "$p$ (Holm)"}


def _latex_table(rows: Sequence[Sequence[str]], caption: str, rule_after: int, texts: int) -> str:
    head, *cells = rows
    shown = [
        [_HEADS.get(name, _escaped(name)) for name in head],
        *([_DASH if cell == formatting.UNDEFINED else _escaped(cell) for cell in row] for row in cells),
    ]
    body = [" & ".join(row) + r" \\" for row in shown]
    if rule_after < len(body) - 1:
        body.insert(rule_after + 1, r"\midrule")
    columns = "l" * texts + "r" * (len(rows[0]) - texts)
    return "\n".join([
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{_escaped(caption)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        body[0],
        r"\midrule",
        *body[1:],
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ])


def _escaped(text: str) -> str:
    """Escapes text for TeX on one line, so that an untrusted name cannot end the line or begin a command."""
    plain = "".join(_LATEX.get(character, character) for character in " ".join(text.split()))
    return re.sub(r"(?<![\w.])-(?=\d)|(?<= )-(?= )", "$-$", plain)
