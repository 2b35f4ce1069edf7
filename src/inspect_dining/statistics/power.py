"""Power of the tests that `compare` uses, and the smallest difference that they detect; exact, not simulated.

For shares the power is summed over all outcomes in the rejection region of Boschloo's test, or of Fisher's if that
one is used. For means it is that of Welch's t-test under normal scores with any sizes and spreads, integrated over the
two sample variances, or of the paired t-test. A significant result of the wrong sign does not count.
"""

from collections.abc import Callable
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from inspect_dining.statistics.tests import BOSCHLOO_MOST

ALPHA = 0.05
"""The two-sided error rate for which power is computed."""
POWER = 0.8
"""The power for which the smallest detectable difference is computed."""
MOST_CELLS = 4_000_000
"""The largest product of the two group sizes for which the power of a test of shares is computed."""

Region = NDArray[np.bool_]
Floats = NDArray[np.float64]

_NUISANCE = 801
"""The number of common shares at which the size of a region is checked; they are dense near 0 and 1."""
_NODES = 64
"""Gauss-Legendre nodes for each sample variance."""


def shares_power(first: float, second: float, count1: int, count2: int, alpha: float = ALPHA) -> float:
    """The chance that the exact test of `exact_test` distinguishes two shares.

    Args:
        first: The share in the first group, 0 to 1.
        second: The share in the second group, 0 to 1.
        count1: Games of the first group.
        count2: Games of the second, with a product of at most `MOST_CELLS`.
        alpha: The error rate.
    """
    if first > second:
        first, second, count1, count2 = 1 - first, 1 - second, count1, count2
    region = _second_above(count1, count2, alpha)
    return float(_chances(count1, np.array([first]))[0] @ region @ _chances(count2, np.array([second]))[0])


def detectable_shares(
    share: float, count1: int, count2: int, alpha: float = ALPHA, power: float = POWER
) -> tuple[float | None, float | None]:
    """The nearest shares, above and below a given one, that the exact test of two such groups distinguishes from it.

    Args:
        share: The share in the first group, 0 to 1.
        count1: Games of the first group.
        count2: Games of the second.
        alpha: The error rate.
        power: The chance of detecting the difference.

    Returns:
        The share above and the share below; None if not even 1 or 0 would be distinguished from it, or if the groups
        are too large for the power to be computed.
    """
    if min(count1, count2) == 0 or count1 * count2 > MOST_CELLS:
        return None, None

    def above(share: float) -> float | None:
        def excess(other: float) -> float:
            return shares_power(share, other, count1, count2, alpha) - power

        return _root(excess, share, 1.0) if share < 1 and excess(1.0) >= 0 else None

    below = above(1 - share)
    return above(share), None if below is None else 1 - below


def _root(excess: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(excess, low, high, xtol=1e-9)) if excess(low) < 0 < excess(high) else high


def _chances(count: int, shares: Floats) -> Floats:
    """For each share, the chance of 0, 1, ..., count successes."""
    from scipy.special import gammaln, xlog1py, xlogy

    hits = np.arange(count + 1)
    ways = gammaln(count + 1) - gammaln(hits + 1) - gammaln(count - hits + 1)
    return np.exp(ways + xlogy(hits, shares[:, None]) + xlog1py(count - hits, -shares[:, None]))


@lru_cache(maxsize=16)
def _second_above(count1: int, count2: int, alpha: float) -> Region:
    """The rejection region with the second share above the first, for each pair of successes."""
    if count1 * count2 <= BOSCHLOO_MOST:
        return _boschloo(count1, count2, alpha / 2)
    return _fisher(count1, count2, alpha)


def _conditional(count1: int, count2: int) -> tuple[Floats, list[NDArray[np.int64]]]:
    """For each pair of successes, the logarithm of its number of ways; for each total, the first group's successes."""
    from scipy.special import gammaln

    hits1, hits2 = np.arange(count1 + 1), np.arange(count2 + 1)
    ways1 = gammaln(count1 + 1) - gammaln(hits1 + 1) - gammaln(count1 - hits1 + 1)
    ways2 = gammaln(count2 + 1) - gammaln(hits2 + 1) - gammaln(count2 - hits2 + 1)
    totals = [np.arange(max(0, total - count2), min(count1, total) + 1) for total in range(count1 + count2 + 1)]
    return ways1[:, None] + ways2[None, :], totals


def _boschloo(count1: int, count2: int, alpha: float) -> Region:
    """The region of Boschloo's one-sided test (1970).

    Outcomes are ordered by Fisher's one-sided p-value; the region grows as long as its probability, at the worst common
    share, is at most alpha. It is convex: with one more success of the second group, or one less of the first, an
    outcome stays in it.
    """
    ways, totals = _conditional(count1, count2)
    fisher = np.ones((count1 + 1, count2 + 1))
    for total, hits in enumerate(totals):
        likely = np.exp(ways[hits, total - hits] - ways[hits, total - hits].max())
        fisher[hits, total - hits] = np.minimum(1.0, np.cumsum(likely) / likely.sum())
    nuisance = np.sin(np.linspace(0, np.pi / 2, _NUISANCE)) ** 2
    first, second = _chances(count1, nuisance), _chances(count2, nuisance)
    above = np.hstack([np.cumsum(second[:, ::-1], 1)[:, ::-1], np.zeros((_NUISANCE, 1))])

    def region(limit: float) -> Region:
        return fisher <= limit * (1 + 1e-9)

    def size(limit: float) -> float:
        inside = region(limit)
        least = np.where(inside.any(1), inside.argmax(1), count2 + 1)
        return float((first * above[:, least]).sum(1).max())

    limits = np.unique(fisher)
    low, high = int(np.searchsorted(limits, alpha, side="right")) - 1, len(limits)
    while high - low > 1:  # Fisher's own p-value is never below Boschloo's, so the search starts there
        middle = (low + high) // 2
        low, high = (middle, high) if size(limits[middle]) <= alpha else (low, middle)
    return region(limits[low]) if low >= 0 else np.zeros_like(fisher, dtype=bool)


def _fisher(count1: int, count2: int, alpha: float) -> Region:
    """The region in which Fisher's two-sided test rejects with the second share above the first."""
    ways, totals = _conditional(count1, count2)
    region = np.zeros(ways.shape, dtype=bool)
    for total, hits in enumerate(totals):
        likely = np.exp(ways[hits, total - hits] - ways[hits, total - hits].max())
        likely /= likely.sum()
        ranked = np.sort(likely)
        # An outcome is as extreme as another if it is no more likely, up to rounding (as in scipy.stats.fisher_exact).
        extreme = np.cumsum(ranked)[np.searchsorted(ranked, likely * (1 + 1e-7), side="right") - 1]
        rejected = (extreme <= alpha * (1 + 1e-9)) & (hits * count2 < (total - hits) * count1)
        region[hits[rejected], total - hits[rejected]] = True
    return region


def welch_power(
    difference: float, spread1: float, spread2: float, count1: int, count2: int, alpha: float = ALPHA
) -> float:
    """The chance that Welch's t-test, two-sided, distinguishes two means.

    Args:
        difference: The difference of the means.
        spread1: The standard deviation in the first group.
        spread2: The standard deviation in the second group; one of the two is above 0.
        count1: Games of the first group, at least 2.
        count2: Games of the second, at least 2.
        alpha: The error rate.
    """
    from scipy.special import ndtr

    weights, reaches, error = _welch_reaches(spread1, spread2, count1, count2, alpha)
    return float((weights * ndtr(abs(difference) / error - reaches)).sum())


@lru_cache(maxsize=64)
def _welch_reaches(
    spread1: float, spread2: float, count1: int, count2: int, alpha: float
) -> tuple[Floats, Floats, float]:
    """For each pair of sample variances, its weight, and the true standard errors by which the means must differ."""
    from scipy.special import chdtri, stdtrit

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    # t = 3u^2 - 2u^3 gathers nodes at both ends, where a sample variance is near 0 or very large.
    u = (nodes + 1) / 2
    tail, weights = 3 * u**2 - 2 * u**3, weights / 2 * 6 * u * (1 - u)
    part1 = spread1**2 / count1 * chdtri(count1 - 1, tail) / (count1 - 1)
    part2 = spread2**2 / count2 * chdtri(count2 - 1, tail) / (count2 - 1)
    total = part1[:, None] + part2[None, :]
    df = total**2 / (part1[:, None] ** 2 / (count1 - 1) + part2[None, :] ** 2 / (count2 - 1))
    error = sqrt(spread1**2 / count1 + spread2**2 / count2)
    reaches: Floats = np.asarray(stdtrit(df, 1 - alpha / 2) * np.sqrt(total) / error, dtype=np.float64)
    return np.outer(weights, weights), reaches, error


def detectable_difference(
    spread1: float, spread2: float, count1: int, count2: int, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """The smallest difference of two means that Welch's t-test detects.

    Args:
        spread1: The standard deviation in the first group.
        spread2: The standard deviation in the second group.
        count1: Games of the first group.
        count2: Games of the second.
        alpha: The error rate.
        power: The chance of detecting it.

    Returns:
        The difference, or None if a group has fewer than two games or neither has any spread.
    """
    if min(count1, count2) < 2 or max(spread1, spread2) <= 0:
        return None
    unit = max(spread1, spread2)
    spread1, spread2 = spread1 / unit, spread2 / unit

    def excess(difference: float) -> float:
        return welch_power(difference, spread1, spread2, count1, count2, alpha) - power

    return _crossing(excess) * unit


def paired_power(difference: float, spread: float, count: int, alpha: float = ALPHA) -> float:
    """The chance that the paired t-test, two-sided, detects a mean difference.

    Args:
        difference: The mean difference.
        spread: The standard deviation of the differences, above 0.
        count: Games that both played, at least 2.
        alpha: The error rate.
    """
    from scipy import stats
    from scipy.special import stdtrit

    reach = float(stdtrit(count - 1, 1 - alpha / 2))
    return float(stats.nct.sf(reach, count - 1, abs(difference) / spread * sqrt(count)))


def detectable_pairs(spread: float, count: int, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """The smallest mean difference that the paired t-test detects.

    Args:
        spread: The standard deviation of the differences.
        count: Games that both played.
        alpha: The error rate.
        power: The chance of detecting it.

    Returns:
        The difference, or None with fewer than two games or without spread.
    """
    if count < 2 or spread <= 0:
        return None
    return _crossing(lambda difference: paired_power(difference, 1.0, count, alpha) - power) * spread


def mcnemar_power(share: float, apart: float, count: int, alpha: float = ALPHA) -> float:
    """The chance that McNemar's mid-p shows the second of two players on the same games to be better.

    Args:
        share: The second player's share of the games in which exactly one succeeded.
        apart: The share of such games among all.
        count: Games that both played.
        alpha: The error rate.
    """
    from scipy import stats

    spread = sqrt(count * apart * (1 - apart)) * 8 + 1
    discordant = np.arange(max(0, int(count * apart - spread)), min(count, int(count * apart + spread)) + 1)
    least = np.array([_mcnemar_least(int(total), alpha) for total in discordant])
    found = stats.binom.sf(least - 1, discordant, share) * stats.binom.pmf(discordant, count, apart)
    return float(np.sum(found))


@lru_cache(maxsize=4096)
def _mcnemar_least(total: int, alpha: float) -> int:
    """The number of the second player's successes, among games in which exactly one succeeded, that is significant."""
    from scipy import stats

    fewer = np.arange((total + 1) // 2)
    midp = 2 * stats.binom.cdf(fewer, total, 0.5) - stats.binom.pmf(fewer, total, 0.5)
    significant = fewer[midp <= alpha]
    return total - int(significant[-1]) if significant.size else total + 1


def detectable_mcnemar(apart: float, count: int, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """The smallest difference of two shares of the same games that McNemar's mid-p detects.

    Args:
        apart: The share of games in which exactly one of the two succeeds.
        count: Games that both played.
        alpha: The error rate.
        power: The chance of detecting it.

    Returns:
        The difference, at most `apart`, or None if not even that would be detected.
    """

    def excess(share: float) -> float:
        return mcnemar_power(share, apart, count, alpha) - power

    return apart * (2 * _root(excess, 0.5, 1.0) - 1) if count and excess(1.0) >= 0 else None


def _crossing(excess: Callable[[float], float]) -> float:
    """The zero of a rising function that is negative at 0."""
    high = 0.1
    while excess(high) < 0:
        high *= 2
    return _root(excess, 0.0, high)
