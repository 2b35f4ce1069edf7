"""How many episodes tell a difference: sample sizes for shares and for means of two groups of equal size.

The unit is the episode. `statistics.detectable_shares` and `detectable_g` answer the reverse question.
"""

from math import asin, ceil, isfinite, sqrt
from statistics import NormalDist

import numpy as np
from scipy import stats
from scipy.special import gammaln

from inspect_dining.statistics import ALPHA, POWER

MOST_EPISODES = 10_000_000
"""No design asks for more in an arm."""
MOST_EXACT = 1_000
"""Up to so many episodes in an arm the exact test's power is computed, over all pairs of counts."""


def episodes_for_shares(first: float, second: float, alpha: float = ALPHA, power: float = POWER) -> int:
    """Episodes in each group so that a two-sided test tells two shares apart, by the arcsine transformation.

    n = 2 ((z(1 - alpha/2) + z(power)) / h)^2 with h = |2 asin sqrt(p2) - 2 asin sqrt(p1)| (Cohen 1988).

    Args:
        first: The share in the first group, 0 to 1.
        second: The share in the second group, another.
        alpha: The error rate.
        power: The chance to find the difference.

    Raises:
        ValueError: The shares are equal or not from 0 to 1.
    """
    if not (0 <= first <= 1 and 0 <= second <= 1) or first == second:
        raise ValueError(f"The shares {first:g} and {second:g} are not accepted; two different shares from 0 to 1 are.")
    normal = NormalDist()
    effect = abs(2 * asin(sqrt(second)) - 2 * asin(sqrt(first)))
    episodes = 2 * ((normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) / effect) ** 2
    if episodes > MOST_EPISODES:
        raise ValueError(f"The shares {first:g} and {second:g} are too close: over {MOST_EPISODES:,} episodes an arm.")
    return max(2, ceil(episodes - 1e-9))


def fisher_power(first: float, second: float, episodes: int, alpha: float = ALPHA) -> float:
    """The chance that Fisher's exact test, two-sided, tells two shares apart; summed over all outcomes, not simulated.

    Args:
        first: The share in the first group, 0 to 1.
        second: The share in the second group, 0 to 1.
        episodes: Episodes in each group.
        alpha: The error rate.
    """
    counts = np.arange(episodes + 1)
    log_ways = gammaln(episodes + 1) - gammaln(counts + 1) - gammaln(episodes - counts + 1)
    # The logarithm, since scipy's pmf itself overflows at shares next to 0.
    chance1, chance2 = (np.exp(stats.binom.logpmf(counts, episodes, share)) for share in (first, second))
    found = 0.0
    for total in range(2 * episodes + 1):
        ones = np.arange(max(0, total - episodes), min(episodes, total) + 1)
        likely = np.exp(log_ways[ones] + log_ways[total - ones] - np.max(log_ways[ones] + log_ways[total - ones]))
        likely /= likely.sum()
        ranked = np.sort(likely)
        # An outcome is as extreme as another if it is no more likely, up to rounding (as in scipy.stats.fisher_exact).
        extreme = np.cumsum(ranked)[np.searchsorted(ranked, likely * (1 + 1e-7), side="right") - 1]
        rejected = extreme <= alpha * (1 + 1e-9)  # a p-value of exactly alpha rejects, whatever its rounding
        found += float(np.sum(chance1[ones[rejected]] * chance2[total - ones[rejected]]))
    return found


def episodes_for_fisher(first: float, second: float, alpha: float = ALPHA, power: float = POWER) -> int | None:
    """Episodes in each group so that Fisher's exact test tells two shares apart.

    Searched from the continuity-corrected number of Casagrande, Pike and Smith (1978). The power of an exact test
    rises in saw teeth, so that a few episodes more can have a little less.

    Args:
        first: The share in the first group, 0 to 1.
        second: The share in the second group, another.
        alpha: The error rate.
        power: The chance to find the difference.

    Returns:
        A number that suffices while one less does not, or None where it would be above `MOST_EXACT`.

    Raises:
        ValueError: The shares are equal or not from 0 to 1.
    """
    rough = episodes_for_shares(first, second, alpha, power)
    episodes = max(2, round(rough / 4 * (1 + sqrt(1 + 4 / (rough * abs(second - first)))) ** 2))
    if episodes > MOST_EXACT:
        return None
    while fisher_power(first, second, episodes, alpha) < power:
        episodes += 1
    while episodes > 2 and fisher_power(first, second, episodes - 1, alpha) >= power:
        episodes -= 1
    return episodes


def welch_power(difference: float, spread1: float, spread2: float, episodes: int, alpha: float = ALPHA) -> float:
    """The chance that Welch's t-test, two-sided, tells two means apart; a finding of the wrong sign does not count.

    By the noncentral t distribution with the degrees of freedom of Welch and Satterthwaite.

    Args:
        difference: The difference of the means.
        spread1: The standard deviation in the first group.
        spread2: The standard deviation in the second group.
        episodes: Episodes in each group, at least 2.
        alpha: The error rate.
    """
    variance1, variance2 = spread1**2, spread2**2
    df = (variance1 + variance2) ** 2 / (variance1**2 + variance2**2) * (episodes - 1)
    noncentrality = abs(difference) / sqrt((variance1 + variance2) / episodes)
    return float(stats.nct.sf(stats.t.ppf(1 - alpha / 2, df), df, noncentrality))


def episodes_for_means(
    difference: float, spread1: float, spread2: float, alpha: float = ALPHA, power: float = POWER
) -> int:
    """Episodes in each group so that Welch's t-test tells two means apart.

    Args:
        difference: The difference of the means, not 0.
        spread1: The standard deviation in the first group, above 0.
        spread2: The standard deviation in the second group, above 0.
        alpha: The error rate.
        power: The chance to find the difference.

    Raises:
        ValueError: A difference of 0, a spread that is not above 0, or more than `MOST_EPISODES` episodes.
    """
    if not all(map(isfinite, (difference, spread1, spread2))) or difference == 0 or min(spread1, spread2) <= 0:
        raise ValueError(
            f"A difference of {difference:g} with standard deviations {spread1:g} and {spread2:g} is not accepted; the "
            "difference must not be 0 and the deviations must be above 0."
        )
    low, high = 1, 2
    while welch_power(difference, spread1, spread2, high, alpha) < power:
        low, high = high, 2 * high
        if high > MOST_EPISODES:
            raise ValueError(f"A difference of {difference:g} is too small: over {MOST_EPISODES:,} episodes an arm.")
    while high - low > 1:
        middle = (low + high) // 2
        if welch_power(difference, spread1, spread2, middle, alpha) < power:
            low = middle
        else:
            high = middle
    return high
