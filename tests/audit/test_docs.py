"""The pages on the audit, the models and the plan print what their commands print, and state what is so."""

import importlib.util
from math import log
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from inspect_dining.audit.allocations import MOST_ENUMERATED, count
from inspect_dining.audit.probe import even, most_meals
from inspect_dining.statistics import detectable_shares

DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def flat(name: str) -> str:
    return " ".join(page(name).split())


def script(name: str) -> ModuleType:
    """A script of the pages."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("name", ["audit.md", "models.md", "plan.md"])
def test_a_page_shows_what_its_commands_print(name: str) -> None:
    """If it fails: `python docs/refresh.py docs/NAME`, and read what has changed."""
    refresh = script("refresh")
    text = page(name)
    assert refresh.BLOCK.search(text), "the page shows no command"
    assert refresh.refreshed(text) == text


def test_the_table_of_the_grid_is_made_of_its_rows_and_training_names_what_it_says_of_the_default() -> None:
    """If it fails: `python docs/audit_grid.py --table`."""
    grid = script("audit_grid")
    rows = grid.rows()
    sizes = {(row["shaping"], int(row["n"]), int(row["rounds"])) for row in rows}
    assert len(sizes) == len(rows)
    assert sizes <= set(grid.cells())
    assert all(row["proved"] == "True" for row in rows)
    assert grid.with_table(page("audit.md"), rows) == page("audit.md")
    assert not any(row["failed"] for row in rows if row["shaping"] in {"gini_welfare", "proportional"})
    default = sum(row["shaping"] == "gini_welfare" for row in rows)
    assert f"It passed the audit at all of the sizes audited so far, {default} of the 912" in flat("training.md")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gini_welfare", "proportional", "paper", "meal_gated"])
def test_a_sample_of_the_grid_comes_out_again(name: str) -> None:
    grid = script("audit_grid")
    for row in Random(name).sample([row for row in grid.rows() if row["shaping"] == name], 8):
        assert grid.audited(name, int(row["n"]), int(row["rounds"])) == row


def test_the_sizes_up_to_which_all_allocations_are_tried_are_those_of_the_page() -> None:
    longest = {}
    for n in (5, 10, 15):
        rounds = 3
        while count(n, most_meals(n, rounds + 1), (rounds + 1) // 3, symmetric=True) <= MOST_ENUMERATED:
            rounds += 1
        longest[n] = rounds
    assert f"up to T = {longest[5]} at n = 5, {longest[10]} at n = 10, {longest[15]} at n = 15" in flat("audit.md")


def test_the_closest_call_of_proportional_is_that_of_the_page() -> None:
    calls = []
    for n in range(3, 16):
        for meals in range(2 * n, most_meals(n, 50) + 1):
            some = sum(log(1 + 10 * each) for each in even(meals, n - -(-n // 3))) / n
            everyone = sum(log(1 + 10 * each) for each in even(meals // 2, n)) / n
            calls.append((everyone - some, n, meals, some, everyone))
    gap, n, meals, some, everyone = min(calls)
    assert gap > 0
    assert (n, meals) == (3, 7)
    told = f"seven meals for two seats earn as much as {some:.3f}, three meals for three seats {everyone:.3f}"
    assert told in flat("audit.md")


def test_thirty_games_see_three_and_a_half_times_as_many_survivors() -> None:
    above = detectable_shares(0.13, 30, 30)[0]
    assert above is not None
    assert 3.35 < above / 0.13 < 3.65
    assert "three and a half times as often" in flat("plan.md")
