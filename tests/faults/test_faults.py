"""Samples of the experiments with faults; the scripts beside run them in full."""

from pathlib import Path

import pytest

from tests.faults import trainings
from tests.faults.altered import altered, examine
from tests.faults.kills import kill


def test_no_altered_field_stops_the_reading_or_deceives_a_reader(tmp_path: Path) -> None:
    """Every field of header, sample, record, score and usage may lie; forty lies, drawn by a seed."""
    found = {what: examine(file, alone, 0, report=False) for what, file, alone in altered(40, tmp_path, seed=7)}
    assert {what: wrong for what, wrong in found.items() if wrong} == {}


@pytest.mark.slow
def test_a_report_of_an_altered_log_parses_and_its_pictures_do(tmp_path: Path) -> None:
    found = {what: examine(file, alone) for what, file, alone in altered(12, tmp_path, seed=8)}
    assert {what: wrong for what, wrong in found.items() if wrong} == {}


@pytest.mark.slow
def test_killed_evaluations_that_are_retried_lose_no_game() -> None:
    found = kill(6, seed=3)
    assert found["whole and equal"] >= 3
    assert set(found) <= {"whole and equal", "ended before the kill", "killed before there was a log"}


@pytest.mark.slow
def test_killed_trainings_for_which_two_processes_fight_come_to_the_same_run() -> None:
    found = trainings.kill(3, seed=4)
    assert sum(found.values()) == 3
    assert all(came.startswith("whole and equal") for came in found), found
