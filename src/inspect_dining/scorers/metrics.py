"""Metrics over episodes: values at each table size, with their uncertainty.

All metrics read unreduced scores, one per sample and epoch: a reduction would hide how a game's epochs differ.
The unit of intervals and standard errors is the game, however often it is played.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from math import inf, sqrt
from statistics import fmean, stdev

from inspect_ai.scorer import Metric, SampleScore, metric

from inspect_dining.statistics import by_game, estimate
from inspect_dining.table.moves import READINGS

PER_SIZE_ROUNDS = (5, 12)
"""The rounds at which survival is reported, in addition to the horizon."""
ALIKE_CEILING = 0.99
"""Above this expected share everyone always does the same, and an excess is not informative."""


def by_size(scores: list[SampleScore]) -> Iterator[tuple[int, list[SampleScore]]]:
    """The episodes of each n, in order of n."""
    sizes: defaultdict[int, list[SampleScore]] = defaultdict(list)
    for score in scores:
        sizes[int((score.score.metadata or {})["n"])].append(score)
    return iter(sorted(sizes.items()))


def _game(place: int, score: SampleScore) -> Hashable:
    """The game of an episode: its sample, which its epochs share."""
    return place if score.sample_id is None else score.sample_id


@metric(name="pooled", scores="unreduced")
def pooled() -> Metric:
    """The mean over the episodes of all table sizes, and its standard error by games, which needs two games.

    Returns:
        A metric with the keys `mean` and `stderr`.
    """

    def pooled_of(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {}  # nothing is scored yet: Inspect shows no number
        values = [score.score.as_float() for score in scores]
        found = {"mean": fmean(values)}
        games = by_game(values, [_game(place, score) for place, score in enumerate(scores)])
        if len(games) > 1:
            found["stderr"] = stdev(games.values()) / sqrt(len(games))
        return found

    return pooled_of


@metric(name="per_size", scores="unreduced")
def per_size(
    share: bool = False, least: float | None = None, most: float | None = None, of_meals: bool = False
) -> Metric:
    """For each n: the mean, its 95% interval over games, the number of episodes, and of distinct records.

    The interval is left out where it would not be valid (see `statistics.estimate`). The epochs of a game count as one.

    Args:
        share: The score is 0 or 1, so that the interval is Wilson's if no game is repeated.
        least: The least possible value of the score, if it is bounded; no interval goes below it.
        most: The largest possible value.
        of_meals: The score measures meals, which its answer lists.

    Returns:
        A metric with the keys `n05`, `n05_low`, `n05_high`, `n05_episodes` and `n05_distinct` for n = 5, and
        `n05_games` where epochs repeat games.
    """

    def per_size_of(scores: list[SampleScore]) -> dict[str, float]:
        found: dict[str, float] = {}
        for n, episodes in by_size(scores):
            made = estimate(
                [episode.score.as_float() for episode in episodes],
                [_game(place, episode) for place, episode in enumerate(episodes)],
                share=share,
                least=-inf if least is None else least,
                most=inf if most is None else most,
                ate=[_ate(episode) for episode in episodes] if of_meals else None,
            )
            found[f"n{n:02d}"] = made.mean or 0.0
            if made.interval is not None:
                found[f"n{n:02d}_low"], found[f"n{n:02d}_high"] = made.interval.low, made.interval.high
            found[f"n{n:02d}_episodes"] = len(episodes)
            if made.games < len(episodes):
                found[f"n{n:02d}_games"] = made.games
            found[f"n{n:02d}_distinct"] = len({(episode.score.metadata or {})["record"] for episode in episodes})
        return found

    return per_size_of


def _ate(score: SampleScore) -> bool:
    """Whether anybody ate; the answer of a score holds the meals by seat, `1/0/2`."""
    return any(meals not in ("", "0") for meals in (score.score.answer or "").split("/"))


@metric(name="survival", scores="unreduced")
def survival() -> Metric:
    """For each n, the share of episodes without deadlock by round 5, by round 12 and by the horizon.

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
    """For each n, how often all seats made the same choice in the first round, compared with independent seats.

    A round with a lost turn never counts as alike. The expected share is that of seats that choose independently, each
    with the frequencies observed over all seats: the sum over actions of the frequency to the power n.

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
    """The share of first rounds in which all seats made the same choice, and the share expected of independent seats.

    Args:
        first_rounds: The codes of each episode's first round (see `moves.READINGS`); all of the same n.
    """
    choices = [[READINGS[code].action for code in codes] for codes in first_rounds]
    alike = sum(1 for round in choices if round[0] is not None and len(set(round)) == 1)
    counts = Counter(action for round in choices for action in round)
    turns, n = sum(counts.values()), len(choices[0])
    expected = sum((count / turns) ** n for action, count in counts.items() if action is not None)
    return alike / len(choices), expected
