"""The verb `crossplay`: what it prints, writes and refuses."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from inspect_dining.cli.main import main

FEW = ("--games", "4", "--rounds", "10", "--n", "4")


def test_it_prints_the_matrix_and_what_mixing_costs() -> None:
    found = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["crossplay", "odd_even", "wave", *FEW])
    assert found.exit_code == 0, found.output
    for heading in ("Efficiency / deadlock at n = 4", "What mixing costs", "Regret", "Shapley value"):
        assert heading in found.output


def test_its_json_holds_every_number_and_no_nan() -> None:
    found = CliRunner().invoke(main, ["crossplay", "odd_even", "backoff", "--no-shapley", "--json", *FEW])
    (data,) = json.loads(found.output, parse_constant=pytest.fail)["matrices"]
    assert [cell["players"] for cell in data["cells"]] == [
        ["odd_even", "odd_even"], ["backoff", "backoff"], ["odd_even", "backoff"],
    ]  # fmt: skip
    assert (data["shapley"], data["players"]) == (None, ["odd_even", "backoff"])


def test_the_figure_is_written_whole(tmp_path: Path) -> None:
    file = tmp_path / "matrix.svg"
    found = CliRunner().invoke(main, ["crossplay", "odd_even", "wave", "--figure", str(file), *FEW])
    assert found.exit_code == 0, found.output
    assert file.read_text(encoding="utf-8").rstrip().endswith("</svg>")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "No players were given"),
        (("od_even",), "Did you mean odd_even?"),
        (("wave", "wave"), "each once"),
        (("wave", "--faults", "9:hog"), "names seat 9"),
        (("wave", "--n", "3,4", "--figure", "x.svg"), "--figure draws one matrix"),
        (("wave", "hog", "odd_even", "--n", "2"), ""),
    ],
)
def test_what_it_cannot_seat_is_refused_in_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    found = CliRunner().invoke(main, ["crossplay", *arguments, "--games", "2", "--rounds", "3"])
    if sentence:
        assert found.exit_code != 0
        assert sentence in found.output
    else:
        assert found.exit_code == 0, "pairs fit a table of two, also where there are three players"
