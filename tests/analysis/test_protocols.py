"""The table of the page on protocols comes from docs/data/protocol.csv, and that file from games played again."""

import csv
from pathlib import Path
from statistics import fmean

import pytest

from inspect_dining.table import best_meals
from tests.analysis.protocols import FILE, GAMES, PROTOCOLS, rows, written

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")


def test_the_table_of_the_page_is_that_of_its_rows() -> None:
    with FILE.open(encoding="utf-8") as file:
        of = list(csv.DictReader(file))
    best = best_meals(5, 30).meals
    for protocol, (_, player, _) in PROTOCOLS.items():
        games = [row for row in of if row["protocol"] == protocol and row["player"] == player]
        assert [int(row["seed"]) for row in games] == list(range(GAMES))
        meals, deadlock, calls = (fmean(float(row[key]) for row in games) for key in ("meals", "deadlocked", "calls"))
        shown = f"{deadlock:.2f}" if deadlock else "0"
        cells = f"{meals:.2f} | {meals / best:.3f} | {shown} | {calls:.0f} | {calls / meals:.1f}"
        assert f"| {protocol} | {player} | {cells} |" in PAGE.replace("`", ""), cells


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_first_games_of_every_protocol_come_out_as_written(protocol: str) -> None:
    with FILE.open(encoding="utf-8") as file:
        known = {tuple(row[:3]): tuple(row) for row in csv.reader(file)}
    assert all(known[row[:3]] == row for row in rows(protocol, range(5)))


@pytest.mark.slow
def test_the_whole_file_comes_out_as_written() -> None:
    assert written() == FILE.read_text(encoding="utf-8")
