"""Alarms for the known failure modes of a run, from its metrics alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

MetricsRow = Mapping[str, float]
"""The metrics of one step."""


class Alarm(StrEnum):
    """A known failure mode."""

    SILENCE = "nobody eats and nothing locks: the model has learned to sit still"
    """No meals and hardly any deadlocks for three steps."""
    NO_CALLS = "most turns are lost: the model has stopped calling tools"
    """More than half of all turns lost."""
    ALL_DEAD = "no group has any spread: nothing is learned any more"
    """Every group without spread for five steps."""
    CERTAIN_DEADLOCK = "every game deadlocks"
    """At least 99% deadlock for twenty steps."""
    ONE_MEAL = "everyone eats once and then stops"
    """At least 95% fed, at most 1.2 meals per seat, in games with room for twice as many."""
    HOGGING = "many meals, but a third of the seats or more starve"
    """Efficiency at least 0.3 with at most two thirds fed."""
    HOLLOW = "the reward rises while meals fall"
    """Compares the last twenty steps with the twenty before, on the same games."""
    NO_ENTROPY = "the replies have no chance left in them and the games are still lost"
    """Entropy below 0.01 nats per reply at a deadlock rate above 0.5."""

    OFF = "the learner gives the replies other probabilities than the sampler did"
    """A mean difference above 0.05 nats per token: dropout, or weights that changed in between."""


FATAL = frozenset({Alarm.SILENCE, Alarm.NO_CALLS, Alarm.CERTAIN_DEADLOCK})
"""The alarms after which a recipe that allows restarts starts over."""


OFF_LIMIT = 0.05
"""Nats per token; float32 differs by less than a thousandth, bfloat16 by a few hundredths."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """An alarm goes off if its test holds in each of the given number of latest steps."""

    steps: int
    holds: Callable[[MetricsRow], bool]


_RULES = {
    Alarm.SILENCE: _Rule(3, lambda row: row["meals"] == 0 and row["deadlock"] < 0.5),
    Alarm.NO_CALLS: _Rule(3, lambda row: row["lost"] > 0.5),
    Alarm.ALL_DEAD: _Rule(5, lambda row: row["dead_groups"] >= 1),
    Alarm.CERTAIN_DEADLOCK: _Rule(20, lambda row: row["deadlock"] >= 0.99),
    Alarm.ONE_MEAL: _Rule(
        3, lambda row: row["fed"] >= 0.95 and row["meals"] <= 1.2 and row["meals"] < 0.5 * row["best_meals"]
    ),
    Alarm.HOGGING: _Rule(3, lambda row: row["efficiency"] >= 0.3 and row["fed"] <= 2 / 3),
    Alarm.OFF: _Rule(1, lambda row: row.get("off", 0.0) > OFF_LIMIT),
    Alarm.NO_ENTROPY: _Rule(3, lambda row: row["entropy"] < 0.01 and row["deadlock"] > 0.5),
}
_COMPARED = 20


def alarms(rows: Sequence[MetricsRow]) -> list[Alarm]:
    """The alarms that go off at the latest of these steps."""
    raised = [
        alarm for alarm, rule in _RULES.items() if len(rows) >= rule.steps and all(map(rule.holds, rows[-rule.steps :]))
    ]
    late, early = rows[-_COMPARED:], rows[-2 * _COMPARED : -_COMPARED]
    alike = len(early) == _COMPARED and len({row["stage"] for row in (*early, *late)}) == 1
    if (
        alike
        and _mean(late, "reward") > _mean(early, "reward") + 0.02
        and _mean(late, "meals") < 0.8 * _mean(early, "meals")
    ):
        raised.append(Alarm.HOLLOW)
    return raised


def _mean(rows: Sequence[MetricsRow], key: str) -> float:
    return sum(row[key] for row in rows) / len(rows)
