"""The tables of the page on strangers are made again, number for number."""

import csv
import re
from pathlib import Path
from statistics import fmean

import pytest

from inspect_dining.crossplay import cross_play
from inspect_dining.crossplay.tables import entry
from inspect_dining.scorers.terms import terms
from inspect_dining.table import Rules, episode_seed, play, sample_id
from inspect_dining.table.optimum.faulty import survivors_best_given

PAGE = (Path(__file__).parents[2] / "docs" / "strangers.md").read_text(encoding="utf-8")
GAMES = 120
FAULTY_GAMES = 60


def rows(head: str) -> dict[str, list[str]]:
    """The rows of the table whose first line begins so: the first cell, and the others without emphasis."""
    lines = PAGE[PAGE.index(head) :].split("\n\n")[0].splitlines()
    cells = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines]
    return {cells[0][0]: cells[0][1:], **{row[0]: row[1:] for row in cells[2:]}}


MATRIX = rows("| | `hierarchy` | `odd_even` | `even_odd`")
FAULTS = rows("| | `wave` | `wary` | `odd_even`")


def names(head: list[str]) -> list[str]:
    return [name.strip("`") for name in head]


def printed(players: list[str]) -> None:
    matrix = cross_play(players, Rules(n=5), GAMES)
    everyone = names(MATRIX[""])
    for first in players:
        for second in players:
            assert MATRIX[f"`{first}`"][everyone.index(second)] == entry(matrix.cell(first, second)), (first, second)


def test_two_players_of_the_matrix_come_out_as_printed() -> None:
    printed(["hierarchy", "odd_even"])


@pytest.mark.slow
def test_the_whole_matrix_comes_out_as_printed() -> None:
    printed(names(MATRIX[""]))


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 10, 15])
def test_the_seats_beside_a_fault_fare_as_printed_and_their_optimum_is_proved(n: int) -> None:
    """At n = 5, 10 and 15 the wave shows how near play comes to what is proved."""
    found = {row: cells for row, cells in FAULTS.items() if row.startswith(f"n = {n}, ")}
    assert len(found) == 3
    for row, cells in found.items():
        (kind,) = re.findall(r"`(.+)`", row)
        for player, cell in zip(names(FAULTS[""]), cells, strict=True):
            games = [
                play(Rules(n, faults=f"{e % n}:{kind}"), player, episode_seed("test", sample_id(n, 0, e)))
                for e in range(FAULTY_GAMES)
            ]
            of = [one for record in games if (one := terms(record).survivors) is not None]
            assert all(one.exact for one in of)
            assert all(survivors_best_given(record).exact for record in games[:1])
            efficiency = fmean(one.efficiency for one in of if one.efficiency is not None)
            locality = fmean(one.locality for one in of if one.locality is not None)
            assert f"{efficiency:.2f}/{locality:.1f}" == cell, (row, player)
            if player == "wave":
                assert 0.85 < efficiency < 1


@pytest.mark.slow
def test_tables_with_a_liar_fare_as_printed() -> None:
    head, *lines = ((row, cells) for row, cells in rows("| | `announce_yield` | `turn_taking`").items())
    for kind, cells in lines:
        for player, cell in zip(names(head[1]), cells, strict=True):
            of = [
                terms(play(Rules(5, talk=2, faults=f"{e % 5}:{kind[1:-1]}"), player, episode_seed("test", name)))
                for e, name in ((e, sample_id(5, 0, e)) for e in range(200))
            ]
            efficiency = fmean(t.survivors.efficiency for t in of if t.survivors and t.survivors.efficiency is not None)
            assert f"{efficiency:.2f}/{fmean(float(t.deadlocked) for t in of):.2f}" == cell, (kind, player)


EXPERIMENTS = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
DATA = Path(__file__).parents[2] / "docs" / "data" / "strangers.csv"
TRAINED = {"the policy alone": "self", "two seeds": "seeds", "the policy and its reflection": "its reflection"}


@pytest.mark.parametrize(("steps", "head"), [("100", "| table of | `plain`"), ("300", "| table of (300 steps")])
def test_the_tables_of_training_for_strangers_are_those_of_their_rows(steps: str, head: str) -> None:
    with DATA.open(encoding="utf-8") as file:
        cells = [row for row in csv.DictReader(file) if row["steps"] == steps]
    lines = EXPERIMENTS[EXPERIMENTS.index(head) :].split("\n\n")[0].splitlines()
    arms, *shown = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if "---" not in line)
    assert len(shown) == 8
    for name, *told in shown:
        wanted = TRAINED.get(name) or name.split("`")[1]
        for arm, cell in zip(names(arms[1:]), told, strict=True):
            of = [row for row in cells if row["arm"] == arm and _what(row) == wanted]
            means = (fmean(float(row[key]) for row in of) for key in ("efficiency", "deadlock"))
            assert "/".join(f"{mean:.2f}" for mean in means) == cell, (name, arm)


def _what(row: dict[str, str]) -> str:
    if row["first"] == row["second"]:
        return "self"
    return "seeds" if row["second"].isdigit() else row["second"]
