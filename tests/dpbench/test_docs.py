"""The page for DPBench's users: its names are accepted, its table is the CSV, and the CSV is what is played."""

import csv
import re
from dataclasses import replace
from inspect import signature
from pathlib import Path

from inspect_dining.dpbench.game import play
from inspect_dining.dpbench.metrics import outcome
from inspect_dining.dpbench.players import player
from inspect_dining.dpbench.rules import CONDITIONS, EIGHT
from inspect_dining.tasks.dpbench import dpbench

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "dpbench.md").read_text(encoding="utf-8")
ROWS = list(csv.DictReader((DOCS / "data" / "dpbench_scripted.csv").open(encoding="utf-8")))


def test_every_argument_and_condition_of_the_page_is_accepted() -> None:
    named = set(re.findall(r"-T (\w+)=", PAGE))
    assert named <= set(signature(dpbench).parameters)
    assert {"condition", "compat", "communication_rounds"} <= named
    assert all(f"`{name}`" in PAGE for name in EIGHT)
    for chosen in re.findall(r"-T condition=([\w.,]+)", PAGE):
        assert set(chosen.split(",")) <= {*EIGHT, *CONDITIONS}


def test_the_page_shows_the_rows_of_the_csv() -> None:
    table = re.findall(r"^\| `(\w+)` \| (simultaneous|sequential) \| ([\w.]+) \| (.*) \|$", PAGE, re.MULTILINE)
    assert len(table) == 10
    for name, order, compat, numbers in table:
        condition = f"{'sim' if order == 'simultaneous' else 'seq'}_n5_nocomm"
        (row,) = [r for r in ROWS if (r["player"], r["condition"], r["compat"]) == (name, condition, compat)]
        columns = ("deadlock", "throughput", "fairness", "starvation", "meals_per_turn")
        assert numbers.split(" | ") == [row[column] for column in columns], (name, order, compat)


def test_players_without_chance_play_the_rows_of_the_csv() -> None:
    """In the exact game all their games are the same."""
    rows = [
        row for row in ROWS if row["compat"] == "0.2.1" and row["player"] in ("left_first", "odd_even", "hierarchy")
    ]
    assert len(rows) == 15
    for row in rows:
        rules = replace(CONDITIONS[row["condition"]], compat="0.2.1")
        episode = outcome(play(rules, player(row["player"])))
        numbers = (f"{episode.deadlock:.3f}", f"{episode.throughput:.3f}", f"{episode.fairness:.3f}")
        assert numbers == (row["deadlock"], row["throughput"], row["fairness"]), row
