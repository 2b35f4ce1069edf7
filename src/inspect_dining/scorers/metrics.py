"""Metrics over episodes: what a number means at each table size, and how it was come by.

The episode is the unit, also with epochs, so all of them read unreduced scores: one for each sample and epoch. Table
sizes are never pooled here.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from math import sqrt

from inspect_ai.scorer import Metric, SampleScore, metric

from inspect_dining.table.moves import READINGS

PER_SIZE_ROUNDS = (5, 12)
"""The rounds by which survival is told, besides the horizon."""
ALIKE_CEILING = 0.99
"""Above this expected share everyone always does the same, and an excess says nothing."""


def by_size(scores: list[SampleScore]) -> Iterator[tuple[int, list[SampleScore]]]:
    """The episodes of each n, in order of n."""
    sizes: defaultdict[int, list[SampleScore]] = defaultdict(list)
    for score in scores:
        sizes[int((score.score.metadata or {})["n"])].append(score)
    return iter(sorted(sizes.items()))


def wilson(successes: float, episodes: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share (Wilson 1927), from 0 to 1."""
    from scipy import stats  # here, as below, since looking a name up in the registry has no use for it

    interval = stats.binomtest(round(successes), episodes).proportion_ci(0.95, method="wilson")
    return float(interval.low), float(interval.high)


def student(values: list[float], least: float | None = None, most: float | None = None) -> tuple[float, float] | None:
    """Student's 95% interval of a mean, or None for values that do not differ, which do not tell how sure it is.

    Args:
        values: The values.
        least: The least that a value can be, below which the interval is cut off.
        most: The most that a value can be.
    """
    if len(set(values)) < 2:
        return None
    from scipy import stats

    mean = sum(values) / len(values)
    spread = sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
    reach = float(stats.t.ppf(0.975, len(values) - 1)) * spread
    low, high = mean - reach, mean + reach
    return (low if least is None else max(low, least)), (high if most is None else min(high, most))


@metric(name="pooled", scores="unreduced")
def pooled() -> Metric:
    """Over the episodes of all table sizes: the mean and its standard error, which needs two episodes.

    Returns:
        A metric with the keys `mean` and `stderr`.
    """

    def pooled_of(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {}  # a run of which nothing is scored yet: Inspect shows no number
        values = [score.score.as_float() for score in scores]
        found = {"mean": sum(values) / len(values)}
        if len(values) > 1:
            from scipy import stats

            found["stderr"] = float(stats.sem(values))
        return found

    return pooled_of


@metric(name="per_size", scores="unreduced")
def per_size(share: bool = False, least: float | None = None, most: float | None = None) -> Metric:
    """For each n: the mean, its 95% interval over episodes, episodes, and how many of their records are distinct.

    Args:
        share: The score is 0 or 1, so that the interval is Wilson's; else it is Student's t, and left out where no two
            episodes differ.
        least: The least that the score can be, where there is such a number; no interval goes below it.
        most: The most that it can be.

    Returns:
        A metric with the keys `n05`, `n05_low`, `n05_high`, `n05_episodes` and `n05_distinct` for n = 5.
    """

    def per_size_of(scores: list[SampleScore]) -> dict[str, float]:
        found: dict[str, float] = {}
        for n, episodes in by_size(scores):
            values = [episode.score.as_float() for episode in episodes]
            found[f"n{n:02d}"] = sum(values) / len(values)
            interval = wilson(sum(values), len(values)) if share else student(values, least, most)
            if interval is not None:
                found[f"n{n:02d}_low"], found[f"n{n:02d}_high"] = interval
            found[f"n{n:02d}_episodes"] = len(values)
            found[f"n{n:02d}_distinct"] = len({(episode.score.metadata or {})["record"] for episode in episodes})
        return found

    return per_size_of


@metric(name="survival", scores="unreduced")
def survival() -> Metric:
    """For each n the share of episodes without deadlock by round 5, by round 12 and by the horizon.

    Returns:
        A metric with the keys `n05_round05`, `n05_round12` and `n05_round30` for n = 5 and T = 30; rounds beyond the
        horizon are left out.
    """

    def survival_of(scores: list[SampleScore]) -> dict[str, float]:
        found: dict[str, float] = {}
        for n, episodes in by_size(scores):
            about = [episode.score.metadata or {} for episode in episodes]
            horizon = min(int(one["rounds"]) for one in about)
            for number in sorted({*(r for r in PER_SIZE_ROUNDS if r < horizon), horizon}):
                fallen = sum(1 for one in about if one["deadlocked"] and one["played"] <= number)
                found[f"n{n:02d}_round{number:02d}"] = 1 - fallen / len(about)
        return found

    return survival_of


@metric(name="convergence", scores="unreduced")
def convergence() -> Metric:
    """For each n how often all seats chose alike in the first round, against independent seats.

    A lost turn is never alike. The expected share is what seats that choose independently, each with the frequencies
    that all seats showed, would give: the sum over actions of frequency to the power n.

    Returns:
        A metric with the keys `n05_alike`, `n05_expected` and `n05_excess` for n = 5; the excess is left out where the
        expected share is above 0.99.
    """

    def convergence_of(scores: list[SampleScore]) -> dict[str, float]:
        found: dict[str, float] = {}
        for n, episodes in by_size(scores):
            rounds = [str((episode.score.metadata or {})["first_round"]) for episode in episodes]
            alike, expected = convergence_numbers(rounds)
            found[f"n{n:02d}_alike"], found[f"n{n:02d}_expected"] = alike, expected
            if expected <= ALIKE_CEILING:
                found[f"n{n:02d}_excess"] = alike - expected
        return found

    return convergence_of


def convergence_numbers(first_rounds: list[str]) -> tuple[float, float]:
    """The share of first rounds in which all seats chose alike, and the share expected of independent seats.

    Args:
        first_rounds: For each episode the codes of its first round (see `moves.READINGS`); all of the same n.
    """
    choices = [[READINGS[code].action for code in codes] for codes in first_rounds]
    alike = sum(1 for round in choices if round[0] is not None and len(set(round)) == 1)
    counts = Counter(action for round in choices for action in round)
    turns, n = sum(counts.values()), len(choices[0])
    expected = sum((count / turns) ** n for action, count in counts.items() if action is not None)
    return alike / len(choices), expected
