"""The curriculum advances on success, falls back on failure, and follows from the metrics alone."""

from collections.abc import Sequence

import pytest

from inspect_dining.training.curriculum import WINDOW, Curriculum, entropy_share
from inspect_dining.training.recipe import Stage

STAGES = (
    Stage(games=("5x12", "3x12"), steps=20, until=0.6),
    Stage(games=("5x30",), steps=20, until=0.6),
    Stage(games=("9x30",)),
)


def walked(deadlock: Sequence[float], efficiency: Sequence[float]) -> list[int]:
    curriculum, stages = Curriculum(STAGES, fall_back=0.5), []
    for step in range(len(deadlock)):
        stages.append(curriculum.stage)
        curriculum.step(deadlock[: step + 1], efficiency[: step + 1])
    return stages


def test_it_advances_once_success_has_lasted_a_window() -> None:
    stages = walked([0.0] * 12, [0.7] * 12)
    assert stages == [0] * WINDOW + [1] * WINDOW + [2] * 2


def test_without_success_it_advances_when_the_steps_are_used_up() -> None:
    assert walked([0.5] * 45, [0.1] * 45) == [0] * 20 + [1] * 20 + [2] * 5


def test_meals_beside_deadlocks_are_no_success() -> None:
    assert walked([0.2] * 15, [0.9] * 15) == [0] * 15


def test_an_early_advance_that_fails_is_taken_back_and_not_repeated_early() -> None:
    """Without the bar it would jump between two stages for ever."""
    deadlock = [0.0] * WINDOW + [0.9] * WINDOW + [0.0] * 25
    assert walked(deadlock, [0.7] * len(deadlock)) == [0] * WINDOW + [1] * WINDOW + [0] * 20 + [1] * 5


def test_the_last_stage_goes_on() -> None:
    assert walked([0.0] * 60, [0.9] * 60)[-1] == 2


def test_games_take_turns_over_the_groups() -> None:
    assert Curriculum(STAGES, 0.5).games(5) == [(5, 12), (3, 12), (5, 12), (3, 12), (5, 12)]


def test_the_entropy_coefficient_grows_while_the_meals_last_and_falls_back_while_they_do_not() -> None:
    """A penalty that went on while meals were lost drove one run in three into silence."""

    def share(efficiency: Sequence[float], stages: Sequence[int] | None = None) -> float:
        return entropy_share(efficiency, stages or [0] * len(efficiency), begun=10, ramp=20)

    assert share([0.7] * 10) == 0.0
    assert share([0.7] * 20) == pytest.approx(10 / 20)
    assert share([0.7] * 60) == pytest.approx(1.0)
    assert share([0.7] * 20 + [0.3] * 10) < 0.1
    assert share([0.7] * 20 + [0.3] * 10 + [0.7] * 40) == pytest.approx(1.0)
    # Harder games of another stage are judged by themselves.
    assert share([0.7] * 20 + [0.3] * 10, [0] * 20 + [1] * 10) == pytest.approx((10 + 6) / 20)
