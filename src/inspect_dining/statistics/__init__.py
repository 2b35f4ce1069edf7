"""Intervals, tests and power for scores of games: from scipy wherever it has the method.

A result that cannot be computed, or is not valid at the given size, is None; no function here returns NaN or infinity,
and none accepts them. scipy is imported on first use.

    >>> survivors = [1.0] * 4 + [0.0] * 26, [1.0] * 3 + [0.0] * 27
    >>> test = welch(*survivors)
    >>> round(test.g, 3), round(test.p, 3)
    (-0.101, 0.694)
"""

from inspect_dining.statistics.intervals import (
    APART,
    FEWEST,
    LEVEL,
    Estimate,
    Interval,
    apart,
    by_game,
    estimate,
    mean_interval,
    newcombe,
    paired_newcombe,
    share_interval,
)
from inspect_dining.statistics.power import (
    ALPHA,
    POWER,
    detectable_difference,
    detectable_mcnemar,
    detectable_pairs,
    detectable_shares,
    mcnemar_power,
    paired_power,
    shares_power,
    welch_power,
)
from inspect_dining.statistics.tests import (
    BOSCHLOO_MOST,
    Exact,
    Means,
    exact_test,
    holm,
    mcnemar,
    paired,
    welch,
)

__all__ = [
    "ALPHA",
    "APART",
    "BOSCHLOO_MOST",
    "FEWEST",
    "LEVEL",
    "POWER",
    "Estimate",
    "Exact",
    "Interval",
    "Means",
    "apart",
    "by_game",
    "detectable_difference",
    "detectable_mcnemar",
    "detectable_pairs",
    "detectable_shares",
    "estimate",
    "exact_test",
    "holm",
    "mcnemar",
    "mcnemar_power",
    "mean_interval",
    "newcombe",
    "paired",
    "paired_newcombe",
    "paired_power",
    "share_interval",
    "shares_power",
    "welch",
    "welch_power",
]
