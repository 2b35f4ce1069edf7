"""Every statistic against an independent computation, and its coverage or error rate in simulation."""

from itertools import combinations
from math import isfinite, sqrt
from statistics import correlation, fmean

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize, special, stats

from inspect_dining.analysis.show import formatting
from inspect_dining.scorers.catalogue import SCORES
from inspect_dining.scorers.catalogue import compute_scores as played_scores
from inspect_dining.scorers.terms import terms
from inspect_dining.statistics import (
    BOSCHLOO_MOST,
    Estimate,
    Interval,
    Means,
    by_game,
    detectable_difference,
    estimate,
    exact_test,
    holm,
    mcnemar,
    mean_interval,
    newcombe,
    paired,
    paired_newcombe,
    share_interval,
    welch,
)
from inspect_dining.statistics.intervals import RARE
from inspect_dining.table import Record
from tests.table.dinners import records

BASE = [1.0] * 4 + [0.0] * 26
TRAINED = [1.0] * 3 + [0.0] * 27

scores = st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 6)), min_size=2, max_size=30)
counts = st.tuples(st.integers(1, 40), st.floats(0, 1)).map(lambda pair: (round(pair[0] * pair[1]), pair[0]))
close = pytest.approx


def _welch(first: list[float], second: list[float]) -> Means:
    test = welch(first, second)
    assert test is not None
    return test


def test_one_surviving_episode_is_all_that_the_published_comparison_shows() -> None:
    """4 of 30 survivors against 3 of 30; then shifted to the published means, which nearly gives the published test."""
    test = _welch(BASE, TRAINED)
    assert (round(test.g, 3), round(test.p, 3)) == (-0.101, 0.694)
    shifted = _welch([x + 0.128 - 4 / 30 for x in BASE], [x + 0.092 - 3 / 30 for x in TRAINED])
    assert round(shifted.g, 3) == -0.109
    assert shifted.p == close(0.670, abs=1e-3)


@given(scores, scores)
def test_welch_agrees_with_scipy_on_the_raw_values(first: list[float], second: list[float]) -> None:
    """The test is computed from moments; a slip there would go unseen without the raw values."""
    assume(np.ptp(first) > 1e-3 and np.ptp(second) > 1e-3)
    test = _welch(first, second)
    theirs = stats.ttest_ind(second, first, equal_var=False)
    low, high = theirs.confidence_interval(0.95)
    assert test.difference == close(np.mean(second) - np.mean(first), abs=1e-9)
    assert (test.t, test.df, test.p) == close((theirs.statistic, theirs.df, theirs.pvalue), rel=1e-6, abs=1e-9)
    assert (test.interval.low, test.interval.high) == close((low, high), rel=1e-6, abs=1e-6)


@given(scores, scores)
def test_hedges_g_agrees_with_its_definition_by_gamma_functions(first: list[float], second: list[float]) -> None:
    """J is computed by logarithms of gamma functions, so that large groups do not overflow it."""
    assume(np.ptp(first) > 1e-3 and np.ptp(second) > 1e-3)
    df = len(first) + len(second) - 2
    pooled = ((len(first) - 1) * np.var(first, ddof=1) + (len(second) - 1) * np.var(second, ddof=1)) / df
    correction = special.gamma(df / 2) / (sqrt(df / 2) * special.gamma((df - 1) / 2))
    assert _welch(first, second).g == close((np.mean(second) - np.mean(first)) / sqrt(pooled) * correction, abs=1e-8)


@given(scores, scores)
def test_the_interval_of_g_is_the_delta_method_of_its_four_moments(first: list[float], second: list[float]) -> None:
    """The closed form against the error propagated numerically through means and variances of normal samples."""
    assume(np.std(first) > 0.1 and np.std(second) > 0.1)
    count1, count2 = len(first), len(second)
    df = count1 + count2 - 2

    def d(moments: NDArray[np.float64]) -> float:
        mean1, mean2, variance1, variance2 = moments
        return float((mean2 - mean1) / np.sqrt(((count1 - 1) * variance1 + (count2 - 1) * variance2) / df))

    at = np.array([np.mean(first), np.mean(second), np.var(first, ddof=1), np.var(second, ddof=1)])
    error = np.array([at[2] / count1, at[3] / count2, 2 * at[2] ** 2 / (count1 - 1), 2 * at[3] ** 2 / (count2 - 1)])
    gradient = optimize.approx_fprime(at, d, 1e-7 * np.maximum(1, np.abs(at)))
    correction = np.exp(special.gammaln(df / 2) - special.gammaln((df - 1) / 2)) / sqrt(df / 2)
    half = 1.959964 * correction * sqrt(float(np.sum(gradient**2 * error)))
    test = _welch(first, second)
    assert (test.g_interval.high - test.g_interval.low) / 2 == close(half, rel=1e-2, abs=1e-4)


@given(scores)
def test_the_t_interval_agrees_with_scipy_on_the_raw_values(values: list[float]) -> None:
    """It is computed from moments in a scaled unit."""
    assume(np.ptp(values) > 1e-3)
    estimate = mean_interval(values)
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert estimate.interval is not None
    assert estimate.mean == close(np.mean(values), abs=1e-9)
    assert (estimate.interval.low, estimate.interval.high) == close((low, high), rel=1e-6, abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=10))
def test_an_interval_ends_where_the_values_end(values: list[float]) -> None:
    """A share of turns lost, read as between -2% and 5%."""
    free, bounded = mean_interval(values).interval, mean_interval(values, least=0, most=1).interval
    assert (free is None) == (bounded is None)
    if free is not None and bounded is not None:
        assert (bounded.low, bounded.high) == (max(0, free.low), min(1, free.high))


@given(records(full=True))
def test_every_score_lies_within_what_its_interval_is_cut_to(record: Record) -> None:
    for name, value in played_scores(terms(record), None).items():
        assert SCORES[name].least <= value <= SCORES[name].most, name


def test_a_reach_is_told_by_the_side_that_was_not_cut() -> None:
    assert formatting.estimate(Estimate(0.95, Interval(0.85, 1.0), 4)) == "0.950 ±0.100"
    assert formatting.estimate(Estimate(0.05, Interval(0.0, 0.15), 4)) == "0.050 ±0.100"


@given(counts)
def test_the_wilson_interval_holds_the_shares_that_a_score_test_accepts(count: tuple[int, int]) -> None:
    """Its ends are the shares p with (x/n - p)^2 = z^2 p (1 - p) / n, found here as the roots of that quadratic."""
    successes, total = count
    z, share = 1.959963984540054, successes / total
    roots = np.roots([1 + z * z / total, -(2 * share + z * z / total), share * share]).real
    interval = share_interval(successes, total).interval
    assert interval is not None
    if 0 < min(successes, total - successes) <= RARE:
        assert interval.low <= min(roots) + 1e-7
        assert interval.high >= max(roots) - 1e-7
    else:
        assert (interval.low, interval.high) == close((min(roots), max(roots)), abs=1e-7)


@pytest.mark.parametrize("total", [5, 10, 30, 100, 200])
def test_the_interval_of_a_share_covers_a_rare_one_too(total: int) -> None:
    """Exactly, by summing over all outcomes: Wilson's covers as few as .83 at shares within 1/n of 0 or 1."""
    shares, counts = np.linspace(1e-4, 0.5, 2000), np.arange(total + 1)
    chance = stats.binom.pmf(counts[:, None], total, shares)
    made = [share_interval(int(x), total).interval for x in counts]
    held = np.array([[i is not None and i.low <= p <= i.high for p in shares] for i in made])
    covered = (chance * held).sum(0)
    assert covered.min() > 0.915
    assert (covered < 0.93).mean() < 0.08
    assert 0.94 < covered.mean() < 0.98
    for x, interval in zip(counts[1:4], made[1:4], strict=True):
        assert interval is not None
        above = stats.binom.sf(x, total, interval.low) + stats.binom.pmf(x, total, interval.low) / 2
        assert above <= 0.025 + 1e-9, "no share below the lower end would give so many so often"


@pytest.mark.parametrize(
    ("successes1", "total1", "successes2", "total2", "low", "high"),
    [
        (48, 80, 56, 70, 0.0524, 0.3339),
        (3, 10, 9, 10, 0.1705, 0.8090),
        (0, 29, 5, 56, -0.0381, 0.1926),
        (0, 10, 10, 10, 0.6075, 1.0000),
    ],
)
def test_newcombes_interval_gives_the_numbers_of_his_paper(
    successes1: int, total1: int, successes2: int, total2: int, low: float, high: float
) -> None:
    """Newcombe 1998, table II, method 10."""
    interval = newcombe(successes1, total1, successes2, total2)
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


@given(counts, counts)
def test_newcombes_interval_turns_with_the_groups_and_holds_the_difference(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    """Swapping the groups must change only the sign."""
    there, back = newcombe(*first, *second), newcombe(*second, *first)
    assert there is not None
    assert back is not None
    assert (there.low, there.high) == close((-back.high, -back.low), abs=1e-12)
    assert there.low - 1e-9 <= second[0] / second[1] - first[0] / first[1] <= there.high + 1e-9


def _one_sided_fisher(total1: int, total2: int) -> NDArray[np.float64]:
    x, y = np.indices((total1 + 1, total2 + 1))
    return np.asarray(stats.hypergeom.cdf(x, total1 + total2, x + y, total1))


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_boschloos_p_is_the_worst_case_over_the_common_share(total1: int, total2: int, data: st.DataObject) -> None:
    """By its definition: the largest chance, over the common share, of a table whose Fisher p is as small."""
    x, y = data.draw(st.integers(0, total1)), data.draw(st.integers(0, total2))
    grid = np.linspace(0, 1, 2001)[:, None, None]
    chance = stats.binom.pmf(np.arange(total1 + 1)[:, None], total1, grid) * stats.binom.pmf(
        np.arange(total2 + 1)[None, :], total2, grid
    )
    tails = (_one_sided_fisher(total1, total2), _one_sided_fisher(total2, total1).T)
    sides = [float((chance * (tail <= tail[x, y] * (1 + 1e-9))).sum(axis=(1, 2)).max()) for tail in tails]
    test = exact_test(x, total1, y, total2)
    assert test is not None
    assert test.name == "Boschloo"
    assert test.p == close(min(1.0, 2 * min(sides)), abs=2e-3)


def test_fishers_test_takes_over_where_boschloos_takes_seconds_and_says_so() -> None:
    """Its p-value is the chance of all tables with the same margins that are no likelier."""
    total = 300
    assert total * total > BOSCHLOO_MOST
    test = exact_test(40, total, 60, total)
    chances = stats.hypergeom.pmf(np.arange(101), 2 * total, 100, total)
    assert test is not None
    assert test.name == "Fisher"
    assert test.p == close(float(chances[chances <= chances[40] * (1 + 1e-9)].sum()), abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float]) -> None:
    """A hypothesis falls exactly when every set of hypotheses that holds it falls to Bonferroni."""
    places = range(len(p_values))
    sets = [s for size in range(1, len(p_values) + 1) for s in combinations(places, size)]
    closed = [max(min(1.0, len(s) * min(p_values[j] for j in s)) for s in sets if i in s) for i in places]
    assert holm(p_values) == close(closed)


def test_an_undefined_test_is_no_member_of_holms_family() -> None:
    """Else a score without spread would make every other one look weaker."""
    assert holm([None, 0.01, None, 0.04]) == [None, 0.02, None, 0.04]


@pytest.mark.parametrize(("count", "g"), [(64, 0.5), (26, 0.8), (394, 0.2)])
def test_the_detectable_difference_gives_cohens_table(count: int, g: float) -> None:
    """Cohen 1988: 394 (his rounded table: 393), 64 and 26 a group find g = 0.2, 0.5 and 0.8 with power 0.8."""
    found, before = (detectable_difference(1, 1, size, size) for size in (count, count - 1))
    assert found is not None
    assert before is not None
    assert found <= g < before


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.5, 0.5], [0.1 + 0.2, 0.3], [-2.0] * 10])
def test_without_spread_there_is_no_interval(values: list[float]) -> None:
    """A zero-width interval would claim certainty, and rounding in the last bit is no spread."""
    assert mean_interval(values).interval is None
    assert welch(values, values) is None


@pytest.mark.parametrize("first", [[], [0.5], [0.25] * 7])
def test_one_group_without_spread_or_of_one_episode_never_raises(first: list[float]) -> None:
    """A group without spread can still be tested against one that has some."""
    test = welch(first, [0.0, 1.0, 1.0])
    assert (test is not None) == (len(first) == 7)
    assert share_interval(0, 0).mean is None
    assert newcombe(0, 0, 1, 2) is None
    assert exact_test(0, 0, 1, 2) is None
    assert detectable_difference(1, 1, 1, 30) is None
    assert detectable_difference(0, 0, 30, 30) is None


@pytest.mark.parametrize("total", [1, 30, 300])
def test_shares_of_none_and_all_have_intervals_and_tests(total: int) -> None:
    """No episode deadlocked is a result, not a degenerate input."""
    for successes in (0, total):
        interval = share_interval(successes, total).interval
        assert interval is not None
        assert 0.0 <= interval.low < interval.high <= 1.0
        test = exact_test(successes, total, successes, total)
        assert test is not None
        assert test.p == 1.0


anything = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8)


@given(anything, anything)
def test_finite_values_of_any_size_never_give_nan_or_infinity(first: list[float], second: list[float]) -> None:
    """A user's own shaping may return 1e308; squares must not overflow."""
    estimate, test = mean_interval(first), welch(first, second)
    numbers = [] if estimate.mean is None else [estimate.mean]
    ends: list[Interval] = [] if estimate.interval is None else [estimate.interval]
    if test is not None:
        numbers += [test.difference, test.t, test.df, test.p, test.g]
        ends += [test.interval, test.g_interval]
    numbers += [end for interval in ends for end in (interval.low, interval.high)]
    assert all(map(isfinite, numbers))


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_value_that_is_not_finite_is_refused(wrong: float) -> None:
    """NaN must never reach a mean."""
    with pytest.raises(ValueError, match="is not a score"):
        mean_interval([1.0, wrong])
    with pytest.raises(ValueError, match="is not a score"):
        welch([1.0, 2.0], [wrong])


Z_SLACK = 4.0
"""A simulated rate may lie this many of its own standard errors from the nominal one, beside a stated allowance."""


def _holds(hits: int, trials: int, nominal: float, allowance: float) -> bool:
    return abs(hits / trials - nominal) <= allowance + Z_SLACK * sqrt(nominal * (1 - nominal) / trials)


SHAPES = {
    "normal, alike": (30, 30, 1.0, 1.0, 0.5),
    "normal, few": (8, 8, 1.0, 1.0, 1.0),
    "normal, spread apart": (30, 30, 1.0, 3.0, 0.5),
    "normal, sizes and spread apart": (10, 30, 3.0, 1.0, 0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_of_differences_cover_and_the_test_errs_as_often_as_stated(shape: str) -> None:
    """20,000 draws: t interval, Welch's interval and error rate, the interval of g (to within two percent)."""
    count1, count2, spread1, spread2, delta = SHAPES[shape]
    rng, trials = np.random.default_rng(20261130), 20_000
    pooled = sqrt(((count1 - 1) * spread1**2 + (count2 - 1) * spread2**2) / (count1 + count2 - 2))
    hits = np.zeros(4, dtype=int)
    for _ in range(trials):
        first, second = rng.normal(0, spread1, count1), rng.normal(delta * pooled, spread2, count2)
        test, null = _welch([*first], [*second]), _welch([*first], [*(second - delta * pooled)])
        own = mean_interval([*first]).interval
        assert own is not None
        hits += (
            own.low <= 0.0 <= own.high,
            test.interval.low <= delta * pooled <= test.interval.high,
            test.g_interval.low <= delta <= test.g_interval.high,
            null.p > 0.05,
        )
    assert [_holds(int(h), trials, 0.95, a) for h, a in zip(hits, (0.0, 0.003, 0.02, 0.003), strict=True)] == [True] * 4


def test_the_usual_interval_of_g_fails_where_sizes_and_spreads_differ() -> None:
    """Why the interval of g is not the noncentral t's: at sizes 10 and 30, spreads 3 and 1, it covers 79%, ours 93%."""
    count1, count2, spread1, spread2, delta = SHAPES["normal, sizes and spread apart"]
    rng, trials, df = np.random.default_rng(5), 20_000, count1 + count2 - 2
    pooled = sqrt(((count1 - 1) * spread1**2 + (count2 - 1) * spread2**2) / df)
    first, second = rng.normal(0, spread1, (trials, count1)), rng.normal(delta * pooled, spread2, (trials, count2))
    within = (count1 - 1) * first.var(axis=1, ddof=1) + (count2 - 1) * second.var(axis=1, ddof=1)
    scale = sqrt(count1 * count2 / (count1 + count2))
    t = (second.mean(axis=1) - first.mean(axis=1)) / np.sqrt(within / df) * scale
    place = stats.nct.cdf(t, df, delta * scale)
    assert float(np.mean((place > 0.025) & (place < 0.975))) == close(0.79, abs=0.01)
    ours = [_welch([*a], [*b]).g_interval for a, b in zip(first[:3000], second[:3000], strict=True)]
    assert float(np.mean([i.low <= delta <= i.high for i in ours])) == close(0.93, abs=0.015)


def _chances(total: int, share: float) -> list[float]:
    return [float(stats.binom.pmf(x, total, share)) for x in range(total + 1)]


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.13, 0.5, 0.9])
def test_wilson_and_newcombe_intervals_cover_on_average_what_they_state(share: float) -> None:
    """Exactly, by summing over all outcomes of 30 episodes, and averaged over nearby shares since counts are lumpy."""
    total = 30
    outcomes = range(total + 1)
    wilson = [share_interval(x, total).interval for x in outcomes]
    differences = {(x, y): newcombe(x, total, y, total) for x in outcomes for y in outcomes}
    covered: list[float] = []
    covered_difference: list[float] = []
    for p in np.linspace(max(0.01, share - 0.05), min(0.99, share + 0.05), 11):
        chance = _chances(total, p)
        covered.append(sum(c for c, i in zip(chance, wilson, strict=True) if i is not None and i.low <= p <= i.high))
        for q in (0.3, 0.6):
            other = _chances(total, q)
            inside = [xy for xy, i in differences.items() if i is not None and i.low <= q - p <= i.high]
            covered_difference.append(sum(chance[x] * other[y] for x, y in inside))
    assert fmean(covered) == close(0.95, abs=0.025)
    assert fmean(covered_difference) == close(0.95, abs=0.015)


@pytest.mark.slow
def test_boschloos_test_never_errs_more_often_than_stated() -> None:
    """Exactly, by summing over all tables of 10 against 10 episodes, for every common share."""
    total = 10
    rejected = np.zeros((total + 1, total + 1), dtype=bool)
    for x in range(total + 1):
        for y in range(total + 1):
            test = exact_test(x, total, y, total)
            rejected[x, y] = test is not None and test.p <= 0.05
    for share in np.linspace(0, 1, 101):
        chance = stats.binom.pmf(range(total + 1), total, share)
        assert float(np.outer(chance, chance)[rejected].sum()) <= 0.05 + 1e-9


@pytest.mark.slow
def test_the_smallest_detectable_difference_is_found_four_times_in_five() -> None:
    """Simulated with Welch's test itself, at 30 against 30."""
    g = detectable_difference(1, 1, 30, 30)
    assert g is not None
    rng, trials = np.random.default_rng(7), 10_000
    found = sum(_welch([*rng.normal(0, 1, 30)], [*rng.normal(g, 1, 30)]).p <= 0.05 for _ in range(trials))
    assert _holds(found, trials, 0.8, 0.003)


@pytest.mark.slow
def test_holm_errs_at_most_as_often_as_stated_over_a_whole_family() -> None:
    """Nine true null hypotheses: at least one false finding in at most 5% of families."""
    rng, trials = np.random.default_rng(3), 20_000
    wrong = sum(min(p for p in holm([*rng.random(9)]) if p is not None) <= 0.05 for _ in range(trials))
    assert _holds(wrong, trials, 0.05, 0.002)


@given(scores, st.data())
def test_the_paired_test_agrees_with_scipy_on_the_differences(first: list[float], data: st.DataObject) -> None:
    """And its correlation with Pearson's."""
    second = data.draw(
        st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 6)), min_size=len(first), max_size=len(first))
    )
    assume(np.ptp(first) > 1e-3 and np.ptp(second) > 1e-3 and np.ptp(np.subtract(second, first)) > 1e-3)
    test = paired(first, second)
    assert test is not None
    theirs = stats.ttest_rel(second, first)
    low, high = theirs.confidence_interval(0.95)
    assert (test.t, test.df, test.p) == close((theirs.statistic, theirs.df, theirs.pvalue), rel=1e-6, abs=1e-9)
    assert (test.interval.low, test.interval.high) == close((low, high), rel=1e-6, abs=1e-6)
    assert test.correlation == close(correlation(first, second), abs=1e-4)


def test_the_interval_of_g_covers_for_pairs_too() -> None:
    """3,000 draws of thirty pairs with a correlation of .7 and unequal spreads."""
    rng, trials, delta = np.random.default_rng(11), 3_000, 0.5
    spread = sqrt((1 + 1.5**2) / 2)
    hits = 0
    for _ in range(trials):
        common, own = rng.normal(size=30), rng.normal(size=30)
        second = 1.5 * (0.7 * common + sqrt(1 - 0.49) * own) + delta * spread
        test = paired([*common], [*second])
        assert test is not None
        hits += test.g_interval.low <= delta <= test.g_interval.high
    assert _holds(hits, trials, 0.95, 0.015)


@pytest.mark.parametrize(("only", "p"), [((1, 9), 0.0117), ((4, 4), 1.0), ((0, 5), 0.03125), ((10, 2), 0.0225)])
def test_mcnemars_mid_p_is_the_exact_p_less_half_of_what_was_seen(only: tuple[int, int], p: float) -> None:
    """By definition: the chance of what is less likely under a fair coin, and half of what is as likely, doubled."""
    total = sum(only)
    chances = [float(stats.binom.pmf(hits, total, 0.5)) for hits in range(total + 1)]
    by_hand = min(1.0, 2 * (sum(chances[: min(only)]) + chances[min(only)] / 2))
    assert mcnemar(*only).p == close(by_hand if only[0] != only[1] else 1.0)
    assert mcnemar(*only).p == close(p, abs=1e-4)


def test_newcombes_interval_for_pairs_is_that_of_different_games_where_they_do_not_correlate() -> None:
    """12/4/6/2: each succeeds in the other's failures as often as in the other's successes."""
    assert paired_newcombe(12, 4, 6, 2) == newcombe(16, 24, 18, 24)
    one, other = paired_newcombe(20, 2, 4, 10), newcombe(22, 36, 24, 36)
    assert one is not None
    assert other is not None
    assert one.high - one.low < 0.7 * (other.high - other.low), "a strong correlation narrows it"


@pytest.mark.slow
@pytest.mark.parametrize("cells", [(0.5, 0.2, 0.1, 0.2), (0.85, 0.02, 0.08, 0.05), (0.2, 0.3, 0.3, 0.2)])
def test_newcombes_interval_for_pairs_covers(cells: tuple[float, float, float, float]) -> None:
    draws = np.random.default_rng(5).multinomial(30, cells, 2_000)
    made = [paired_newcombe(*map(int, draw)) for draw in draws]
    truth = cells[2] - cells[1]
    assert 0.93 <= float(np.mean([i is not None and i.low <= truth <= i.high for i in made])) <= 0.99


@given(st.integers(2, 6), st.integers(1, 4), st.data())
def test_epochs_count_once(games: int, epochs: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.floats(0, 1), min_size=games * epochs, max_size=games * epochs))
    keys = [number % games for number in range(games * epochs)]
    means = [fmean(values[game::games]) for game in range(games)]
    assert [*by_game(values, keys).values()] == close(means)
    found = estimate(values, keys)
    assert (found.episodes, found.games, found.interval) == (games * epochs, games, None)
    assert found.why


def test_an_estimate_without_interval_says_why() -> None:
    assert estimate([0.1 * number for number in range(10)]).why == "10 games, and it takes 25"
    assert estimate([0.5] * 30).why == "no two games differ"
    assert estimate([1.0] * 25 + [0.1, 0.2, 0.3, 0.4, 0.5]).why == "hardly two games differ"
    assert estimate([]).why == ""
    skewed = [0.0] * 10 + [0.01 * number**2 for number in range(20)]
    wide, plain = estimate(skewed).interval, mean_interval(skewed).interval
    assert wide is not None
    assert plain is not None
    assert wide.low >= plain.low - 1e-12
    assert wide.high > plain.high
