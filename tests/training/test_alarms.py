"""Each known way to die raises its alarm, and a healthy run raises none."""

import pytest

from inspect_dining.training.alarms import Alarm, alarms

HEALTHY = {
    "reward": 0.6,
    "deadlock": 0.02,
    "meals": 3.0,
    "best_meals": 5.0,
    "efficiency": 0.6,
    "fed": 1.0,
    "lost": 0.01,
    "dead_groups": 0.0,
    "entropy": 0.3,
    "stage": 0.0,
}


def rows(steps: int, **changes: float) -> list[dict[str, float]]:
    return [{**HEALTHY, **changes} for _ in range(steps)]


def test_a_healthy_run_raises_none() -> None:
    assert alarms(rows(60)) == []


@pytest.mark.parametrize(
    ("alarm", "steps", "changes"),
    [
        (Alarm.SILENCE, 3, {"meals": 0.0, "efficiency": 0.0, "fed": 0.0, "deadlock": 0.0}),
        (Alarm.NO_CALLS, 3, {"lost": 0.9}),
        (Alarm.ALL_DEAD, 5, {"dead_groups": 1.0}),
        (Alarm.CERTAIN_DEADLOCK, 20, {"deadlock": 1.0}),
        (Alarm.ONE_MEAL, 3, {"meals": 1.0, "efficiency": 0.2}),
        (Alarm.HOGGING, 3, {"fed": 0.4}),
        (Alarm.NO_ENTROPY, 3, {"entropy": 0.001, "deadlock": 0.8}),
    ],
)
def test_each_way_to_die_is_told_once_it_has_lasted(alarm: Alarm, steps: int, changes: dict[str, float]) -> None:
    assert alarms(rows(40) + rows(steps, **changes)) == [alarm]
    assert alarms(rows(40) + rows(steps - 1, **changes)) == []


def test_a_reward_that_rises_while_meals_fall_is_told() -> None:
    """The paper's reward did this on its way to silence."""
    assert alarms(rows(20) + rows(20, reward=0.9, meals=2.0)) == [Alarm.HOLLOW]
    assert alarms(rows(20) + rows(20, reward=0.9, meals=2.0, stage=1.0)) == []
    assert alarms(rows(20) + rows(20, reward=0.9, meals=4.0)) == []


def test_one_meal_each_is_no_alarm_where_there_is_no_time_for_more() -> None:
    assert alarms(rows(5, meals=1.0, best_meals=1.2, efficiency=0.8)) == []
