"""The catalogue of the ten scores of an episode: name, formula, best value and range.

Everything that lists scores derives from it: the Inspect scorers, the ladder, comparisons, the viewer's columns, the
rows of training and the pages. A new score is a property of `Terms` and an entry here.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import inf

from inspect_dining.scorers.shaping import Shaping, proportional
from inspect_dining.scorers.survivors import Survivors
from inspect_dining.scorers.terms import Terms
from inspect_dining.statistics import Estimate, estimate
from inspect_dining.table.optimum.ring import best_meals


@dataclass(frozen=True, slots=True)
class ScoreDefinition:
    """One score of an episode.

    Attributes:
        name: Its name, also that of the Inspect scorer and of its values in a log.
        value: Computes the score from the terms; None for `reward`, whose shaping the run chooses.
        best: The best value, as shown in table headers: `1`, `0` or `high`.
        meaning: What it measures, in a few words.
        explain: Explains a value in one sentence; None if the parts of a shaping explain it.
        share: Whether it is always 0 or 1, so that its interval is Wilson's and its test is exact.
        least: The least value it can take.
        most: The largest value it can take.
        of_meals: Whether it measures meals, so that games in which nobody ate say little about its spread.
    """

    name: str
    value: Callable[[Terms], float] | None
    best: str
    meaning: str
    explain: Callable[[Terms, float], str] | None = None
    share: bool = False
    least: float = -inf
    most: float = inf
    of_meals: bool = True


def _explain_efficiency(t: Terms, value: float) -> str:
    best = best_meals(t.n, t.rounds)
    what = "the most that can be eaten" if best.exact else "an upper bound of what can be eaten"
    return f"{t.eaten} meals / {best.meals} ({what}) = {value:.4f}."


def _explain_no_deadlock(t: Terms, value: float) -> str:
    return f"{'Deadlock in round' if t.deadlocked else 'No deadlock by round'} {t.played} of {t.rounds} = {value:.0f}."


def _explain_lost_turns(t: Terms, value: float) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in t.lost if count) or "none"
    several = f" In {t.several} turns more than one call came, and the first acted." if t.several else ""
    return f"{t.lost_count} of {t.turns} turns did not act ({kinds}) = {value:.4f}.{several}"


SCORES: dict[str, ScoreDefinition] = {
    score.name: score
    for score in (
        ScoreDefinition(
            "efficiency",
            lambda t: t.efficiency,
            "1",
            "meals / the most that any play eats",
            _explain_efficiency,
            least=0,
            most=1,
        ),
        ScoreDefinition(
            "no_deadlock",
            lambda t: t.no_deadlock,
            "1",
            "share of episodes without deadlock",
            _explain_no_deadlock,
            share=True,
            least=0,
            most=1,
            of_meals=False,
        ),
        ScoreDefinition("reward", None, "high", "the reward chosen by the run"),
        ScoreDefinition("proportional", proportional, "1", "smoothed proportional fairness", most=1),
        ScoreDefinition(
            "throughput",
            lambda t: t.throughput,
            "high",
            "meals / (n T)",
            lambda t, v: f"{t.eaten} meals / ({t.n} seats x {t.rounds} rounds) = {v:.4f}.",
            least=0,
            most=1,
        ),
        ScoreDefinition(
            "meal_variance",
            lambda t: t.meal_variance,
            "0",
            "population variance of meals over seats",
            lambda t, v: f"Variance of meals over {t.n} seats = {v:.4f}.",
            least=0,
        ),
        ScoreDefinition(
            "jain",
            lambda t: t.jain,
            "1",
            "Jain's index of meals",
            lambda t, v: f"Jain's index of meals = {v:.4f}.",
            least=0,
            most=1,
        ),
        ScoreDefinition(
            "starved",
            lambda t: t.starved,
            "0",
            "share of seats without a meal",
            lambda t, v: f"{t.meals.count(0)} of {t.n} seats ate nothing = {v:.4f}.",
            least=0,
            most=1,
        ),
        ScoreDefinition(
            "idle",
            lambda t: t.idle,
            "0",
            "`think` / turns that acted",
            lambda t, v: f"{t.thinks} `think` / {t.turns - t.lost_count} turns that acted = {v:.4f}.",
            least=0,
            most=1,
            of_meals=False,
        ),
        ScoreDefinition(
            "lost_turns",
            lambda t: t.lost_turns,
            "0",
            "share of turns that did not act",
            _explain_lost_turns,
            least=0,
            most=1,
            of_meals=False,
        ),
    )
}
"""The scores by name, in the order in which every table, log and page lists them."""


@dataclass(frozen=True, slots=True)
class FaultScore:
    """One score of an episode whose rules have faults; it is undefined if there is nothing to measure.

    Attributes:
        name: Its name, also that of the Inspect scorer and of its values in a log.
        value: Computes the score from how the seats without a fault fared; None if it is undefined.
        best: The best value.
        meaning: What it measures, in a few words.
        explain: Explains a value in one sentence.
    """

    name: str
    value: Callable[[Survivors], float | None]
    best: str
    meaning: str
    explain: Callable[[Survivors], str]


def _explain_survivors(s: Survivors) -> str:
    what = "the most that they could have eaten" if s.exact else "an upper bound of what they could have eaten"
    return f"The seats without a fault ate {s.meals} meals / {s.best} ({what}, the forks of the others taken as given)."


def _explain_locality(s: Survivors) -> str:
    rows = ", ".join(f"{hungry} of {seats} at distance {place}" for place, (hungry, seats) in enumerate(s.starved, 1))
    return "No fault began." if s.begun is None else f"Ate nothing from round {s.begun} on: {rows}."


def _explain_wait(s: Survivors) -> str:
    return (
        "No fault began." if s.begun is None else f"Rounds from round {s.begun} to the next meal, the mean over seats."
    )


FAULT_SCORES: dict[str, FaultScore] = {
    score.name: score
    for score in (
        FaultScore(
            "survivors_efficiency",
            lambda s: s.efficiency,
            "1",
            "meals of the seats without a fault / the most that they could have eaten",
            _explain_survivors,
        ),
        FaultScore(
            "failure_locality",
            lambda s: s.locality,
            "0",
            "farthest distance from a fault at which a seat starves",
            _explain_locality,
        ),
        FaultScore(
            "rounds_to_meal", lambda s: s.wait, "low", "rounds from the fault to a seat's next meal", _explain_wait
        ),
    )
}
"""The scores of games whose rules have faults, in addition to `SCORES`."""
PRIMARY = "efficiency"
"""The headline, and the primary outcome of a comparison unless another is named."""


def compute_scores(episode: Terms, shaping: Shaping | None) -> dict[str, float]:
    """Computes all scores of one episode, in the order of `SCORES`.

    Args:
        episode: Its terms.
        shaping: The shaping of `reward`; if None, `reward` is unknown and left out.
    """
    values: dict[str, float] = {}
    for name, score in SCORES.items():
        if score.value is not None:
            values[name] = score.value(episode)
        elif shaping is not None:
            values[name] = shaping(episode)
    return values


def estimate_score(
    score: ScoreDefinition, values: Sequence[float], ate: Sequence[bool], games: Sequence[Hashable] | None = None
) -> Estimate:
    """Estimates the mean of a score over episodes, with the interval that suits it.

    Args:
        score: The score.
        values: Its value for each episode.
        ate: Whether anybody ate in each episode.
        games: The game of each episode; if None, every episode is a separate game.
    """
    return estimate(
        values, games, share=score.share, least=score.least, most=score.most, ate=ate if score.of_meals else None
    )
