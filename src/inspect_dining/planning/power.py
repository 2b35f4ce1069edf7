"""The number of games that detect a difference: sample sizes for shares and for means of two groups of equal size.

They use the exact power of the same tests as `compare` (`statistics.power`); `detectable_shares` and
`detectable_difference` there answer the reverse question.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import asin, ceil, isfinite, sqrt
from statistics import NormalDist

from inspect_dining.statistics import ALPHA, BOSCHLOO_MOST, FEWEST, POWER, shares_power, welch_power

MOST_EPISODES = 10_000_000
"""The largest number of games per arm."""
MOST_EXACT = 1_000
"""The largest number of games per arm for which the exact test's power is computed; beyond, it is approximated."""
STEPS = 12
"""The number of larger sizes that must suffice too, since the power of an exact test is a saw-tooth curve."""


@dataclass(frozen=True, slots=True)
class Needed:
    """The number of games that a difference takes.

    Attributes:
        episodes: Games in each group.
        power: The chance of detecting the difference with them, or None if it was not computed.
        test: The test that detects it.
    """

    episodes: int
    power: float | None
    test: str


def episodes_for_shares(first: float, second: float, alpha: float = ALPHA, power: float = POWER) -> Needed:
    """The games per group with which the exact test distinguishes two shares.

    The first number that suffices, as do the next few, by the exact power of Boschloo's test, or of Fisher's if that
    is used. Above `MOST_EXACT` it is given by the arcsine transformation (Cohen 1988), which is then close.

    Args:
        first: The share in the first group, 0 to 1.
        second: The share in the second group; it must differ.
        alpha: The error rate.
        power: The chance of detecting the difference.

    Raises:
        ValueError: The shares are equal, outside 0 to 1, or too close.
    """
    if not (0 <= first <= 1 and 0 <= second <= 1) or first == second:
        raise ValueError(
            f"The shares {first:g} and {second:g} are not accepted; give two different shares from 0 to 1."
        )

    def found(episodes: int) -> float:
        return shares_power(first, second, episodes, episodes, alpha)

    rough = _by_arcsine(first, second, alpha, power)
    if rough > MOST_EXACT or found(MOST_EXACT) < power:
        return Needed(rough, None, "normal approximation")
    episodes, suffice = max(2, _first(lambda n: found(n) >= power, 2, MOST_EXACT) - STEPS), 0
    while suffice <= STEPS and episodes + suffice <= MOST_EXACT:
        if found(episodes + suffice) >= power:
            suffice += 1
        else:
            episodes, suffice = episodes + suffice + 1, 0
    return Needed(episodes, found(episodes), "Boschloo" if episodes**2 <= BOSCHLOO_MOST else "Fisher")


def _by_arcsine(first: float, second: float, alpha: float, power: float) -> int:
    """Sizes n = 2 ((z(1 - alpha/2) + z(power)) / h)^2 with h = |2 asin sqrt(p2) - 2 asin sqrt(p1)|."""
    normal = NormalDist()
    effect = abs(2 * asin(sqrt(second)) - 2 * asin(sqrt(first)))
    episodes = 2 * ((normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) / effect) ** 2
    if episodes > MOST_EPISODES:
        raise ValueError(
            f"The shares {first:g} and {second:g} are too close: they take over {MOST_EPISODES:,} episodes per arm."
        )
    return ceil(episodes)


def episodes_for_means(
    difference: float, spread1: float, spread2: float, alpha: float = ALPHA, power: float = POWER
) -> Needed:
    """The games per group with which Welch's t-test distinguishes two means; at least `FEWEST`.

    Args:
        difference: The difference of the means, not 0.
        spread1: The standard deviation in the first group, above 0.
        spread2: The standard deviation in the second group, above 0.
        alpha: The error rate.
        power: The chance of detecting the difference.

    Raises:
        ValueError: The difference is 0, a spread is not above 0, or more than `MOST_EPISODES` games are needed.
    """
    if not all(map(isfinite, (difference, spread1, spread2))) or difference == 0 or min(spread1, spread2) <= 0:
        raise ValueError(
            f"A difference of {difference:g} with standard deviations {spread1:g} and {spread2:g} is not accepted; the "
            "difference must not be 0 and the deviations must be above 0."
        )
    unit = max(spread1, spread2)

    def found(episodes: int) -> float:
        return welch_power(difference / unit, spread1 / unit, spread2 / unit, episodes, episodes, alpha)

    if found(MOST_EPISODES) < power:
        raise ValueError(
            f"A difference of {difference:g} is too small: it takes over {MOST_EPISODES:,} episodes per arm."
        )
    episodes = _first(lambda n: found(n) >= power, FEWEST, MOST_EPISODES)
    return Needed(episodes, found(episodes), "Welch")


def _first(suffices: Callable[[int], bool], low: int, high: int) -> int:
    """Finds, by doubling and bisection, a number that suffices while one less does not; `high` is known to suffice."""
    if suffices(low):
        return low
    step = low
    while step < high and not suffices(min(2 * step, high)):
        step *= 2
    low, high = step, min(2 * step, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high
