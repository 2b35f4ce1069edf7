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
from inspect_dining.scorers.catalogue import SCORES
from inspect_dining.statistics import Estimate, Interval
from inspect_dining.table import Rules
from tests.analysis.made import log, run, sample

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


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix(r"\\"))]


def test_latex_escapes_what_latex_would_read_and_every_table_is_whole(found: Comparison) -> None:
    """A model's name must not break a paper."""
    text = to_latex(found)
    assert r"m/a\_b" in text
    assert r"m/$<$c\&d$>$" in text
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    tables = re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", body, re.DOTALL)
    assert len(tables) == 4
    for columns, inside in tables:
        rows = [line for line in inside.splitlines() if line.endswith(r"\\")]
        assert len(rows) > 2
        assert {len(cells(row)) for row in rows} == {len(columns)}
    plain = re.sub(r"\\[\\{}$&%#_]", "", body)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert len(text) < 20_000, "names and numbers, no records"


def test_a_row_of_the_latex_contrasts_reads_back_as_the_contrast(found: Comparison) -> None:
    contrast = next(c for c in found.sections[0].contrasts if c.means is not None)
    rows = [cells(line) for line in to_latex(found).splitlines() if line.startswith("efficiency &")]
    (row,) = (row for row in rows if row[1] == f"{contrast.second.letter} - {contrast.first.letter}")
    assert contrast.means is not None
    assert contrast.interval is not None
    assert row[2] == "paired t"
    difference, *ends = [float(x.replace("$", "")) for x in re.findall(r"\$?-?\$?[\d.]+", " ".join(row[3:5]))]
    assert difference == pytest.approx(contrast.difference, abs=5e-4)
    assert ends == pytest.approx([contrast.interval.low, contrast.interval.high], abs=5e-4)


def test_a_name_with_a_line_break_and_a_command_stays_in_its_cell() -> None:
    evil = "m/x\n\\input{secret}"
    made = compare(read([run(evil, "odd_even", RULES, 2), run("m/y", "random", RULES, 2)]), ladder_episodes=0)
    lines = to_latex(made).splitlines()
    assert not any(line.lstrip().startswith("\\input") for line in lines)
    assert all("\\input" not in line for line in lines if not line.startswith("%"))


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
