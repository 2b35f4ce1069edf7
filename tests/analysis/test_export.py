"""A comparison in a terminal, as JSON, CSV and LaTeX: the same numbers, and words where there is none."""

import csv
import io
import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from inspect_dining.analysis.comparison.compare import Comparison, compare
from inspect_dining.analysis.inputs.collection import read
from inspect_dining.analysis.show import formatting
from inspect_dining.analysis.show.export import CSV_COLUMNS, to_csv, to_json, to_latex
from inspect_dining.analysis.show.tables import comparison_tables
from inspect_dining.analysis.show.tables import test_name as name_of_test
from inspect_dining.scorers.catalogue import SCORES
from inspect_dining.statistics import Estimate, Interval
from inspect_dining.table import Rules
from tests.analysis.made import log, run, sample
from tests.parsing import latex_tables

RULES = Rules(n=3, rounds=12)


@pytest.fixture(scope="module")
def found() -> Comparison:
    """Two models, one of them without any spread, and one of which nothing is scored."""
    logs = [
        run("m/a_b", "lehmann_rabin", RULES, 30),
        run("m/<c&d>", "random", RULES, 30),
        run("m/silent", "silent", RULES, 12),
        log("m/down", [sample(None, "n03-s0-e000", RULES, error="RuntimeError: down")], rounds=12),
    ]
    return compare(read(logs), ladder_episodes=5)


def _text(found: Comparison, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), highlight=False)
    with console.capture() as captured:
        console.print(comparison_tables(found))
    return captured.get()


@pytest.mark.parametrize("width", [80, 100, 160])
def test_every_number_fits_the_terminal(found: Comparison, width: int) -> None:
    """An ellipsis in a number hides digits."""
    text = _text(found, width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width


def test_the_terminal_names_the_hint_every_score_and_what_is_undefined(found: Comparison) -> None:
    text = _text(found, 120)
    assert "hint none" in text
    assert all(name in text for name in SCORES)
    assert "undefined" in text
    assert "unknown" in text
    assert "only 1 of 12 records is distinct" in text


def test_no_form_prints_nan_or_infinity(found: Comparison) -> None:
    for text in (_text(found, 120), to_json(found), to_csv(found), to_latex(found)):
        assert not re.search(r"\b(nan|inf|infinity)\b", text, re.IGNORECASE)


def test_json_holds_every_mean_interval_and_test(found: Comparison) -> None:
    data = json.loads(to_json(found))
    table, (section,) = data["tables"][0], found.sections
    assert data["primary"] == "efficiency"
    assert table["setup"]["hint"] == "none"
    for row, model in zip(section.rows, table["models"], strict=True):
        assert row.counts is not None
        assert (model["planned"], model["scored"]) == (row.counts.planned, row.counts.scored)
        for name, one in row.summary.estimates.items():
            assert model["scores"][name]["mean"] == one.mean
    assert len(table["contrasts"]) == len(section.contrasts)
    assert table["models"][0]["cost"] is None
    assert {player["label"] for player in table["ladder"]} >= {"random", "wave"}


def test_csv_has_one_number_a_line_and_reads_back(found: Comparison) -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert list(lines[0]) == list(CSV_COLUMNS)
    (section,) = found.sections
    first = section.rows[0]
    (line,) = (x for x in lines if x["model"] == first.label and x["measure"] == "efficiency" and not x["against"])
    estimate = first.summary.estimates["efficiency"]
    assert estimate.interval is not None
    assert (float(line["value"]), float(line["low"])) == (estimate.mean, estimate.interval.low)
    (cost,) = (x for x in lines if x["model"] == first.label and x["measure"] == "cost_per_meal")
    assert cost["value"] == "unknown"
    contrasts = [x for x in lines if x["against"] and "Hedges" not in x["measure"]]
    assert len(contrasts) == len(section.contrasts)
    assert {x["test"] for x in contrasts} == {"paired t", "McNemar", "Boschloo", ""}


def test_latex_is_tables_of_whole_rows_that_name_the_models_as_they_are(found: Comparison) -> None:
    """A model's name must not break a paper."""
    text = to_latex(found)
    *scores, contrasts = latex_tables(text)
    assert len(scores) == 3
    (section,) = found.sections
    for table in scores:
        assert table.columns == "l" + "r" * (len(table.rows[0]) - 1)
        assert table.rules == [0, 1, 1 + len(section.rows), len(table.rows)]
        models = [row[0] for row in table.rows[1 : 1 + len(section.rows)]]
        assert models == ["A m/a_b", "B m/<c&d>", "C m/silent", "D m/down"]
        assert table.caption.startswith("Scores at n = 3, 12 rounds (order simultaneous")
    assert contrasts.rules == [0, 1, 1 + sum(one.primary for one in section.contrasts), len(contrasts.rows)]
    assert len(text) < 20_000, "names and numbers, no records"


def test_every_row_of_the_latex_contrasts_reads_back_as_its_contrast(found: Comparison) -> None:
    table, (section,) = latex_tables(to_latex(found))[-1], found.sections
    assert table.rows[0] == ["outcome", "contrast", "test", "difference", "95% interval", "Hedges' g", "p", "p (Holm)"]
    for row, one in zip(table.rows[1:], section.contrasts, strict=True):
        assert row[:2] == [one.outcome, f"{one.second.letter} - {one.first.letter}"]
        assert row[2] == (name_of_test(one) or "none")
        ends = None if one.interval is None else [one.interval.low, one.interval.high]
        assert numbers(row[3]) == pytest.approx([] if one.difference is None else [one.difference], abs=5e-4)
        assert numbers(row[4]) == pytest.approx(ends or [], abs=5e-4)
        assert numbers(row[5]) == pytest.approx([] if one.means is None else [one.means.g], abs=5e-3)
        for cell, p in zip(row[6:], (one.p, one.p_holm), strict=True):
            assert cell == formatting.p_value(p).replace("undefined", "\N{EN DASH}")


def numbers(cell: str) -> list[float]:
    """The numbers in a cell."""
    return [float(number) for number in re.findall(r"-?\d+\.\d+", cell)]


@pytest.mark.parametrize(
    "broken",
    [
        r"\begin{table}\caption{x}\begin{tabular}{lr}a & b & c \\ \end{tabular}\end{table}",
        r"\begin{table}\caption{x}\begin{tabular}{lr}a & b_c \\ \end{tabular}\end{table}",
        r"\begin{table}\caption{\input{x}}\begin{tabular}{l}a \\ \end{tabular}\end{table}",
        r"\begin{table}\caption{x}\begin{tabular}{l}a{ \\ \end{tabular}\end{table}",
        "$x",
        "left over",
    ],
)
def test_the_reader_of_latex_refuses_what_would_not_print_as_a_table(broken: str) -> None:
    with pytest.raises(ValueError, match=r"LaTeX|columns|bare|between"):
        latex_tables(broken)


def test_a_name_with_a_line_break_and_a_command_stays_in_its_cell() -> None:
    evil = "m/x\n\\input{secret}"
    made = compare(read([run(evil, "odd_even", RULES, 2), run("m/y", "random", RULES, 2)]), ladder_episodes=0)
    first, *_ = latex_tables(to_latex(made))
    assert first.rows[1][0] == r"A m/x\n\input{secret}"


@given(st.one_of(st.none(), st.floats(-1e300, 1e300)))
def test_a_number_reads_as_itself_or_as_undefined(value: float | None) -> None:
    """Never `-0.000`, and the largest double stays short."""
    text = formatting.number(value)
    if value is None:
        assert text == "undefined"
    else:
        assert math.isclose(float(text), value, rel_tol=6e-3, abs_tol=5.1e-4)
        assert len(text) < 16
        assert not (text.startswith("-") and float(text) == 0.0)


def test_estimates_read_by_their_kind() -> None:
    assert formatting.estimate(Estimate(0.715, Interval(0.695, 0.735), 30)) == "0.715 ±0.020"
    assert formatting.estimate(Estimate(0.7, Interval(0.521, 0.833), 30), share=True) == "0.70 (0.52-0.83)"
    assert formatting.estimate(Estimate(1.0, None, 30)) == "1.000"
    assert formatting.estimate(Estimate(None, None, 0)) == formatting.estimate(None) == "undefined"


def test_p_values_differences_and_letters_read_as_in_a_paper() -> None:
    assert [formatting.p_value(p) for p in (0.694, 0.00099, 0.0, None)] == ["0.694", "<0.001", "<0.001", "undefined"]
    assert formatting.detectable((-0.12, 0.12)) == "±0.120"
    assert formatting.detectable((None, 0.31)) == "+0.310"
    assert formatting.detectable((-0.1, 0.2)) == "-0.100, +0.200"
    assert formatting.detectable((None, None)) == "undefined"
    assert [formatting.letter(place) for place in (0, 25, 26, 27, 701, 702)] == ["A", "Z", "AA", "AB", "ZZ", "AAA"]
    assert [formatting.per_meal(x, "unknown") for x in (12345.6, 3.14159, None)] == ["12,346", "3.14", "unknown"]
