"""DPBench's six metrics: its random baseline to the last published digit, and the formulas."""

from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.dpbench.game import play
from inspect_dining.dpbench.metrics import Outcome, consistency_counts, gini_fairness, outcome, stated_action
from inspect_dining.dpbench.rules import DPBenchRules
from inspect_dining.dpbench.table import Action

PUBLISHED = {
    "sim_n5_nocomm": (5, "simultaneous", False, (4, 0.303, 0.568, 14.25, 0.83, 27.90)),
    "sim_n5_comm": (5, "simultaneous", True, (2, 0.319, 0.671, 15.50, 0.57, 29.03)),
    "sim_n10_nocomm": (10, "simultaneous", False, (0, 0.591, 0.630, None, 1.17, 30.00)),
    "seq_n5_nocomm": (5, "sequential", False, (0, 0.048, 0.421, None, 3.63, 28.50)),
}
"""Deadlocks, throughput, fairness, time to deadlock, starvation and timesteps of DPBench's random baseline, 30 episodes
a cell (arXiv 2602.13255, experiments/results/aggregated/master.csv)."""


def test_the_random_baseline_is_the_published_one() -> None:
    """One generator with the seed 42, in the order of the cells: all 120 episodes."""
    draw = Random(42)
    words = ["GRAB_LEFT", "GRAB_RIGHT", "RELEASE", "WAIT"]
    for name, (n, order, talk, expected) in PUBLISHED.items():
        rules = DPBenchRules(n, order=order, communication=talk, compat="0.2.1")  # type: ignore[arg-type]
        records = [play(rules, lambda view: f"ACTION: {draw.choice(words)}") for _ in range(30)]
        cell = [outcome(record) for record in records]
        times = [one.timesteps for one in cell if one.deadlock]
        numbers = (
            sum(one.deadlock for one in cell),
            round(fmean(one.throughput for one in cell), 3),
            round(fmean(one.fairness for one in cell), 3),
            round(fmean(times), 2) if times else None,
            round(fmean(one.starvation for one in cell), 2),
            round(fmean(one.timesteps for one in cell), 2),
        )
        assert numbers == expected, name
        if order == "sequential":
            assert sum(record.ended == "deadlock" for record in records) == 3, "of which the published table reports 0"


@given(st.lists(st.integers(0, 20), min_size=2, max_size=8))
def test_fairness_is_one_less_the_scaled_gini_coefficient(meals: list[int]) -> None:
    n, eaten = len(meals), sum(meals)
    if eaten == 0:
        assert gini_fairness(meals, 0.25) == 0.25
        return
    differences = sum(abs(a - b) for a in meals for b in meals) / (2 * n * eaten)
    assert gini_fairness(meals, 0) == pytest.approx(1 - differences * n / (n - 1))


def test_the_ends_of_fairness() -> None:
    assert gini_fairness((3, 3, 3), 0) == 1
    assert gini_fairness((9, 0, 0), 0) == 0


@pytest.mark.parametrize(
    ("message", "action"),
    [
        ("I'll GRAB LEFT now", Action.GRAB_LEFT),
        ("please do not take right", Action.GRAB_RIGHT),
        ("dropping it, then waiting", Action.RELEASE),
        ("I wait", Action.WAIT),
        ("after you", None),
    ],
)
def test_the_action_that_a_message_announces(message: str, action: Action | None) -> None:
    assert stated_action(message) is action


def test_consistency_counts_messages_that_announce_an_action() -> None:
    said = [(Action.WAIT, "I wait"), (Action.GRAB_LEFT, "I wait"), (Action.WAIT, None), (Action.WAIT, "hello")]
    assert consistency_counts(said) == (2, 1)
    assert Outcome(2, 1, False, (0, 0), stated=2, kept=1).consistency == 50
    assert Outcome(2, 1, False, (0, 0)).consistency is None
