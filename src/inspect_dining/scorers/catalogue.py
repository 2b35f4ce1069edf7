"""The ten scores of an episode, derived from its terms: their names, their meaning, and how they are compared."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from inspect_dining.scorers.shaping import Shaping, proportional
from inspect_dining.scorers.terms import Terms


@dataclass(frozen=True, slots=True)
class Outcome:
    """One score of an episode.

    Attributes:
        name: Its name, that of the scorer in the log.
        value: Takes the terms and gives the score; None for `reward`, whose shaping is the run's.
        best: What is best, in a word, for a table's head.
        meaning: What it is, in a few words.
        share: Whether it is 0 or 1, so that its interval is Wilson's and its test exact.
        least: The least that it can be, and its interval can say.
        most: The most that it can be.
    """

    name: str
    value: Callable[[Terms], float] | None
    best: str
    meaning: str
    share: bool = False
    least: float = -inf
    most: float = inf


OUTCOMES: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("efficiency", lambda t: t.efficiency, "1", "meals / the most that any play eats", least=0, most=1),
        Outcome("no_deadlock", lambda t: t.no_deadlock, "1", "share of episodes without deadlock", share=True),
        Outcome("reward", None, "high", "the reward that the run asked for"),
        Outcome("proportional", proportional, "1", "smoothed proportional fairness", most=1),
        Outcome("throughput", lambda t: t.throughput, "high", "meals / (n T)", least=0, most=1),
        Outcome("meal_variance", lambda t: t.meal_variance, "0", "population variance of meals over seats", least=0),
        Outcome("jain", lambda t: t.jain, "1", "Jain's index of meals", least=0, most=1),
        Outcome("starved", lambda t: t.starved, "0", "share of seats without a meal", least=0, most=1),
        Outcome("idle", lambda t: t.idle, "0", "`think` / turns that acted", least=0, most=1),
        Outcome("lost_turns", lambda t: t.lost_turns, "0", "share of turns that did not act", least=0, most=1),
    )
}
"""The scores by name, in the order of the tables."""
PRIMARY = "efficiency"
"""The primary outcome, unless another is named."""


def scores(episode: Terms, shaping: Shaping | None) -> dict[str, float]:
    """All scores of one episode.

    Args:
        episode: Its terms.
        shaping: The shaping of `reward`, or None where it is not known; `reward` is then left out.
    """
    found = {name: outcome.value(episode) for name, outcome in OUTCOMES.items() if outcome.value is not None}
    if shaping is not None:
        found["reward"] = shaping(episode)
    return found
