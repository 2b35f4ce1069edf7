"""Inspect Scout over a real log: each scanner finds what was put there, and nothing in a log of another task."""

import random
from pathlib import Path

import pytest

pytest.importorskip("inspect_scout")

from inspect_scout import scan, scan_results_df, transcripts_from

from inspect_dining.neighbours.scout import all_alike, hog, planned_not_called, says_otherwise
from inspect_dining.tasks import philosophers
from tests.solvers.harness import Talker, calls, run, says


@pytest.mark.slow
def test_the_scanners_find_what_was_put_into_a_game(tmp_path: Path) -> None:
    """Round 1: all alike. Round 2: seat 0 plans and calls nothing, seat 1 says one thing and does another."""

    def speak(view, count):  # type: ignore[no-untyped-def]
        if view.round == 1:
            return calls("think")
        if view.seat == 0:
            return says("I will pick up left.")
        return calls("pick_up_right", text="Now I eat.") if view.seat == 1 else calls("think")

    random.seed(1)
    run(philosophers(n=3, episodes=1, rounds=3), Talker(speak).model(), tmp_path / "logs")
    scanners = [hog(), all_alike(), planned_not_called(), says_otherwise()]
    status = scan(
        scanners, transcripts=transcripts_from(tmp_path / "logs"), scans=str(tmp_path / "scans"), display="none"
    )
    assert status.complete
    frames = scan_results_df(status.location).scanners
    value = {name: frame["value"].tolist() for name, frame in frames.items()}
    assert value["hog"] == [0]
    assert value["all_alike"] == [pytest.approx(1 / 3, abs=1e-3)]
    assert value["planned_not_called"] == [2]
    assert value["says_otherwise"] == [2]
