"""Means and shares of games with their intervals, or the reason why there is no interval.

The unit is the game: if epochs repeat one, their mean counts once, which is the standard error clustered by game of
Miller (2024), "Adding error bars to evals", for games of equally many epochs.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import cbrt, frexp, inf, isfinite, ldexp, sqrt
from statistics import fmean

LEVEL = 0.95
"""The confidence level of every interval."""
FEWEST = 25
"""The fewest games for an interval of a mean or a t-test; fewer fail in simulations on the game's own scores."""
APART = 10
"""The fewest games that must differ from the commonest value and, if the score measures meals, must have a meal."""
RARE = 3
"""Wilson's interval is widened if from one to this many games are on the rarer side of a share."""

_NO_SPREAD = 1e-12
"""A standard deviation below this share of the largest value is rounding, not spread."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval.

    Attributes:
        low: Its lower end.
        high: Its upper end.
    """

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over episodes.

    Attributes:
        mean: The mean, or None without episodes.
        interval: Its interval, or None if none is valid.
        episodes: The number of episodes.
        games: The number of different games; equal to `episodes` if no epoch repeats one.
        why: Why there is no interval, in a few words; empty if there is one, or no episode.
    """

    mean: float | None
    interval: Interval | None
    episodes: int
    games: int = 0
    why: str = ""

    def ends(self) -> dict[str, float | None]:
        """Mean and ends as plain values: `mean`, `low` and `high`, None if undefined."""
        low, high = (None, None) if self.interval is None else (self.interval.low, self.interval.high)
        return {"mean": self.mean, "low": low, "high": high}


def by_game(values: Sequence[float], games: Sequence[Hashable]) -> dict[Hashable, float]:
    """The mean of each game's episodes, in the order of the games' first episodes.

    Args:
        values: A number for each episode.
        games: The game of each episode.
    """
    met: dict[Hashable, list[float]] = {}
    for value, game in zip(values, games, strict=True):
        met.setdefault(game, []).append(value)
    return {game: own[0] if len(own) == 1 else fmean(own) for game, own in met.items()}


def estimate(
    values: Sequence[float],
    games: Sequence[Hashable] | None = None,
    *,
    share: bool = False,
    least: float = -inf,
    most: float = inf,
    ate: Sequence[bool] | None = None,
) -> Estimate:
    """The mean of some episodes with an interval over games, or with the reason why none is given.

    A share of games played once has Wilson's interval, widened if it is rare (see `share_interval`). Anything else has
    the wider, on each side, of Student's t and of the same corrected for skew (Hall 1992), over the means of games.

    Args:
        values: One finite number for each episode.
        games: The game of each episode; if None, each episode is a separate game.
        share: Whether the values are 0 or 1.
        least: The least possible value, at which the interval is cut off.
        most: The largest possible value.
        ate: For a score of meals, whether anybody ate in each episode.

    Raises:
        ValueError: A value is not finite.
    """
    keys = range(len(values)) if games is None else games
    means = list(by_game(values, keys).values())
    if share and len(means) == len(values):
        return share_interval(round(sum(values)), len(values))
    found = _skewed(means, least, most)
    fed = None if ate is None else sum(by_game([float(fed) for fed in ate], keys).values())
    why = _refusal(means, found, fed)
    mean = fmean(values) if values and found.mean is not None else None
    return Estimate(mean, None if why else found.interval, len(values), len(means), why)


def _refusal(means: Sequence[float], found: Estimate, fed: float | None) -> str:
    """Why no interval is given; empty if one is."""
    if not means:
        return ""
    if len(means) > 1 and found.interval is None:
        return "no two games differ"
    if len(means) < FEWEST:
        return f"{len(means)} games, and it takes {FEWEST}"
    if fed is not None and fed < APART:
        return "hardly a game had a meal"
    return "" if apart(means) >= APART else "hardly two games differ"


def apart(values: Sequence[float]) -> int:
    """The number of values that differ from the commonest, up to rounding."""
    rounded = [round(value, 9) for value in values]
    return len(values) - max(map(rounded.count, set(rounded)), default=0)


def mean_interval(values: Sequence[float], level: float = LEVEL, *, least: float = -inf, most: float = inf) -> Estimate:
    """The mean of some episodes with its t interval.

    Args:
        values: One finite number for each episode.
        level: The confidence level.
        least: The least possible value, at which the interval is cut off.
        most: The largest possible value.

    Raises:
        ValueError: A value is not finite.
    """
    count = len(values)
    if count == 0:
        return Estimate(None, None, 0)
    unit = unit_of(values)
    mean, deviation = moments(values, unit)
    if deviation is None:
        return Estimate(mean * unit, None, count, count)
    half = t_quantile(level, count - 1) * deviation / sqrt(count)
    interval = _interval(max((mean - half) * unit, least), min((mean + half) * unit, most))
    return Estimate(mean * unit, interval, count, count)


def _skewed(values: Sequence[float], least: float, most: float) -> Estimate:
    """Student's interval, widened if Hall's correction for skew reaches further.

    Hall's (1992) T + g T^2 / 3 + g^2 T^3 / 27 + g / (6 m), with T the t statistic, m the number of values and g their
    skewness divided by the root of m, has no skew of the first order; its inverse gives the ends.
    """
    found = mean_interval(values, least=least, most=most)
    if found.mean is None or found.interval is None:
        return found
    unit, count = unit_of(values), len(values)
    mean, deviation = moments(values, unit)
    if deviation is None:
        return found
    thirds = fmean([((value / unit - mean) / deviation) ** 3 for value in values]) * (count / (count - 1)) ** 1.5
    g = thirds / sqrt(count)
    if abs(g) < 1e-6:
        return found
    reach, error = t_quantile(LEVEL, count - 1), deviation / sqrt(count)
    ends = [(mean - error * 3 * (cbrt(1 + g * (t - g / 6)) - 1) / g) * unit for t in (reach, -reach)]
    low, high = min(found.interval.low, max(ends[0], least)), max(found.interval.high, min(ends[1], most))
    return Estimate(found.mean, _interval(low, high), count, count)


def share_interval(successes: int, total: int, level: float = LEVEL) -> Estimate:
    """A share of episodes with its Wilson interval, which is also valid if none or all succeeded.

    If from one to `RARE` of them succeeded, or failed, it is widened to the mid-p interval, since Wilson's covers a
    share near 0 or 1 in as few as 83% of cases.

    Args:
        successes: The number that succeeded, 0 to `total`.
        total: The number of episodes.
        level: The confidence level.
    """
    if total == 0:
        return Estimate(None, None, 0)
    found = _wilson(successes, total, level)
    if 0 < min(successes, total - successes) <= RARE:
        low, high = _mid_p_low(successes, total, level), 1 - _mid_p_low(total - successes, total, level)
        found = Interval(min(found.low, low), max(found.high, high))
    return Estimate(successes / total, found, total, total)


def _wilson(successes: int, total: int, level: float) -> Interval:
    from scipy import stats

    found = stats.binomtest(successes, total).proportion_ci(level, method="wilson")
    return Interval(float(found.low), float(found.high))


@lru_cache(maxsize=1024)
def _mid_p_low(successes: int, total: int, level: float) -> float:
    """The share at which so many successes or more, the very number counted by half, have half the chance of error."""
    from scipy import optimize, special

    def excess(share: float) -> float:
        more, as_many = special.bdtrc(successes, total, share), special.bdtrc(successes - 1, total, share)
        return float(more + as_many) / 2 - (1 - level) / 2

    return float(optimize.brentq(excess, 0.0, successes / total))


def newcombe(successes1: int, total1: int, successes2: int, total2: int, level: float = LEVEL) -> Interval | None:
    """Newcombe's interval for the difference of two shares, the second minus the first (his method 10, 1998).

    It is built from the two Wilson intervals and is valid if none or all succeeded.

    Returns:
        The interval, or None if a group is empty.
    """
    if not total1 or not total2:
        return None
    first, second = _wilson(successes1, total1, level), _wilson(successes2, total2, level)
    share1, share2 = successes1 / total1, successes2 / total2
    difference = share2 - share1
    down = sqrt((share2 - second.low) ** 2 + (first.high - share1) ** 2)
    up = sqrt((second.high - share2) ** 2 + (share1 - first.low) ** 2)
    return Interval(difference - down, difference + up)


def paired_newcombe(both: int, first: int, second: int, neither: int, level: float = LEVEL) -> Interval | None:
    """Newcombe's interval for the difference of two shares of the same games (1998, method 10 for paired data).

    Args:
        both: Games in which both succeeded.
        first: Games in which only the first succeeded.
        second: Games in which only the second succeeded.
        neither: Games in which neither succeeded.
        level: The confidence level.

    Returns:
        The interval of the second share minus the first, or None without a game.
    """
    total = both + first + second + neither
    if not total:
        return None
    one, other = _wilson(both + first, total, level), _wilson(both + second, total, level)
    share1, share2 = (both + first) / total, (both + second) / total
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    excess = float(both * neither - first * second)
    if excess > 0:  # Newcombe's continuity correction
        excess = max(excess - total / 2, 0.0)
    phi = excess / sqrt(margins) if margins else 0.0

    def reach(up: float, down: float) -> float:
        return sqrt(max(up**2 - 2 * phi * up * down + down**2, 0.0))

    difference = share2 - share1
    low = reach(share2 - other.low, one.high - share1)
    high = reach(other.high - share2, share1 - one.low)
    return Interval(difference - low, difference + high)


def t_quantile(level: float, df: float) -> float:
    """The half-width of Student's interval of a level, in standard errors."""
    from scipy import special

    return float(special.stdtrit(df, (1 + level) / 2))


def unit_of(values: Sequence[float]) -> float:
    """The power of two just below the largest value: in this unit no sum or square overflows."""
    wrong = next((value for value in values if not isfinite(value)), None)
    if wrong is not None:
        raise ValueError(f"{wrong!r} is not a score: statistics take finite numbers; leave undefined scores out.")
    largest = max(map(abs, values), default=0.0)
    return ldexp(1.0, frexp(largest)[1] - 1) if largest else 1.0


def moments(values: Sequence[float], unit: float) -> tuple[float, float | None]:
    """Mean and sample standard deviation in a unit; no deviation if there is no spread."""
    scaled = [value / unit for value in values]
    mean = fmean(scaled)
    if len(scaled) < 2:
        return mean, None
    deviation = sqrt(sum((value - mean) ** 2 for value in scaled) / (len(scaled) - 1))
    return mean, deviation if deviation > _NO_SPREAD * max(map(abs, scaled)) else None


def _interval(low: float, high: float) -> Interval | None:
    return Interval(low, high) if isfinite(low) and isfinite(high) else None
