"""Power and sample sizes: against the tests themselves, published tables, and simulation."""

from math import nan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from inspect_dining.planning.power import MOST_EXACT, STEPS, episodes_for_means, episodes_for_shares
from inspect_dining.statistics import (
    detectable_difference,
    detectable_mcnemar,
    detectable_pairs,
    detectable_shares,
    exact_test,
    mcnemar,
    paired_power,
    shares_power,
    welch_power,
)

SHARES = [number / 20 for number in range(21)]


def by_hand(first: float, second: float, count1: int, count2: int) -> float:
    """The chance that the test itself, asked for every outcome, finds the second share above the first."""
    found = 0.0
    for hits1 in range(count1 + 1):
        for hits2 in range(count2 + 1):
            if hits2 * count1 > hits1 * count2:
                test = exact_test(hits1, count1, hits2, count2)
                if test is not None and test.p <= 0.05:
                    found += stats.binom.pmf(hits1, count1, first) * stats.binom.pmf(hits2, count2, second)
    return float(found)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("count1", "count2"), [(3, 3), (5, 7), (9, 4)])
def test_the_power_of_shares_is_that_of_the_test_asked_for_every_outcome(count1: int, count2: int) -> None:
    for first, second in ((0.1, 0.9), (0.0, 1.0), (0.3, 0.6)):
        assert shares_power(first, second, count1, count2) == pytest.approx(by_hand(first, second, count1, count2))
        assert shares_power(1 - first, 1 - second, count1, count2) == pytest.approx(
            shares_power(first, second, count1, count2)
        )


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(5, 60), st.integers(5, 60), st.data())
def test_an_outcome_is_in_the_region_exactly_where_the_test_rejects(
    count1: int, count2: int, data: st.DataObject
) -> None:
    """At the edge of the region: with a share that makes one outcome certain, power is 1 or 0."""
    hits1 = data.draw(st.sampled_from([0, count1 // 4, count1 // 2]))
    region = [rejects(hits1, hits2, count1, count2) for hits2 in range(count2 + 1)]
    least = region.index(True) if True in region else count2 + 1
    for hits2 in (least - 1, least):
        if hits1 * count2 < hits2 * count1 <= count1 * count2:
            test = exact_test(hits1, count1, hits2, count2)
            assert test is not None
            assert abs(test.p - 0.05) < 1e-4 or (test.p <= 0.05) is region[hits2]


def rejects(hits1: int, hits2: int, count1: int, count2: int) -> bool:
    from inspect_dining.statistics.power import _second_above

    return bool(_second_above(count1, count2, 0.05)[hits1, hits2])


@pytest.mark.slow
def test_thirty_against_thirty_tells_013_only_from_047_and_030_takes_about_ninety() -> None:
    """The faults of the arcsine transformation: it promised something below .13, nothing below 1, and 38 games."""
    above, below = detectable_shares(0.13, 30, 30)
    assert above == pytest.approx(0.466, abs=1e-3)
    assert below is None
    assert detectable_shares(1.0, 30, 30)[1] == pytest.approx(0.786, abs=1e-3)
    assert episodes_for_shares(0, 0.1).episodes == 66
    assert 88 < episodes_for_shares(0.13, 0.30).episodes < 96


@pytest.mark.parametrize("total", [5, 20, 30, 45])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.35, 1.0])
def test_a_detectable_share_has_its_power(share: float, total: int) -> None:
    for other in detectable_shares(share, total, total):
        if other is not None and 0 < other < 1:
            assert shares_power(share, other, total, total) == pytest.approx(0.8, abs=1e-6)
            assert shares_power(share, round(other, 3), total, total) == pytest.approx(0.8, abs=0.01), "as printed"


@pytest.mark.slow
@pytest.mark.parametrize("count1", [5, 10, 20, 30, 60, 100, 200])
def test_what_is_printed_has_its_power_on_the_whole_grid(count1: int) -> None:
    """Shares 0 to 1 by .05 and sizes of 5 to 200, as rounded in the tables."""
    for count2 in (5, 30, 100, 200):
        places = 3 if max(count1, count2) <= 100 else 4
        for share in SHARES:
            for other, end in zip(detectable_shares(share, count1, count2), (1.0, 0.0), strict=True):
                if other is None:
                    assert shares_power(share, end, count1, count2) < 0.8
                elif abs(other - end) > 1e-3:
                    assert shares_power(share, round(other, places), count1, count2) == pytest.approx(0.8, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("count1", "count2"), [(5, 5), (4, 36), (36, 4), (10, 30), (20, 180), (25, 25), (60, 200)])
@pytest.mark.parametrize(("spread1", "spread2"), [(1, 1), (1, 9), (9, 1), (3, 1)])
def test_a_detectable_difference_is_found_four_times_in_five_whatever_sizes_and_spreads(
    count1: int, count2: int, spread1: float, spread2: float
) -> None:
    """40,000 draws of Welch's test itself."""
    difference = detectable_difference(spread1, spread2, count1, count2)
    assert difference is not None
    random = np.random.default_rng(7)
    first = random.normal(0, spread1, (40_000, count1))
    second = random.normal(difference, spread2, (40_000, count2))
    test = stats.ttest_ind(second, first, axis=1, equal_var=False)
    assert np.mean((test.pvalue <= 0.05) & (test.statistic > 0)) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("spread1", "spread2", "count1", "count2"), [(1, 1, 20, 20), (1, 3, 12, 5), (3, 1, 10, 30)])
def test_the_power_of_welchs_test_is_what_simulation_finds(
    spread1: float, spread2: float, count1: int, count2: int
) -> None:
    random = np.random.default_rng(7)
    difference = 0.9 * sqrt((spread1**2 + spread2**2) / 2)
    first = random.normal(0, spread1, (40_000, count1))
    second = random.normal(difference, spread2, (40_000, count2))
    test = stats.ttest_ind(second, first, axis=1, equal_var=False)
    found = np.mean((test.pvalue <= 0.05) & (test.statistic > 0))
    assert welch_power(difference, spread1, spread2, count1, count2) == pytest.approx(found, abs=0.01)


def test_with_equal_spreads_and_sizes_power_is_near_the_noncentral_ts() -> None:
    """At equal variances Welch's test loses next to nothing."""
    for count in (10, 30, 100):
        g = detectable_difference(1, 1, count, count)
        assert g is not None
        df, lam = 2 * count - 2, g * sqrt(count / 2)
        assert float(stats.nct.sf(stats.t.ppf(0.975, df), df, lam)) == pytest.approx(0.8, abs=0.01)


def test_the_power_of_the_paired_test_is_what_simulation_finds() -> None:
    difference = detectable_pairs(2.0, 30)
    assert difference is not None
    assert paired_power(difference, 2.0, 30) == pytest.approx(0.8, abs=1e-6)
    draws = np.random.default_rng(3).normal(difference, 2.0, (20_000, 30))
    test = stats.ttest_1samp(draws, 0.0, axis=1)
    assert np.mean((test.pvalue <= 0.05) & (test.statistic > 0)) == pytest.approx(0.8, abs=0.012)


@pytest.mark.slow
def test_the_power_of_mcnemars_test_is_what_simulation_finds() -> None:
    apart, count = 0.4, 60
    difference = detectable_mcnemar(apart, count)
    assert difference is not None
    cells = np.random.default_rng(3).multinomial(count, [(apart - difference) / 2, (apart + difference) / 2, 0.6], 1500)
    found = np.mean([b > a and mcnemar(int(a), int(b)).p <= 0.05 for a, b, _ in cells])
    assert found == pytest.approx(0.8, abs=0.04)
    assert detectable_mcnemar(0.05, 30) is None


def test_means_half_a_deviation_apart_take_64_as_in_cohens_tables() -> None:
    """Cohen (1988), table 2.4.1: d = 0.2, 0.5, 0.8 at two-sided 5% and power 0.80 (394 exactly; the table rounds)."""
    assert [episodes_for_means(d, 1, 1).episodes for d in (0.2, 0.5, 0.8)] == [394, 64, 26]
    assert episodes_for_means(3, 1, 1).episodes == 25, "below which no t-test is made"


@settings(max_examples=8, deadline=None)
@given(st.floats(0.02, 0.98), st.floats(0.02, 0.98))
def test_the_episodes_for_shares_suffice_as_do_the_next_and_one_less_does_not(first: float, second: float) -> None:
    if abs(first - second) < 0.4:
        return
    needed = episodes_for_shares(first, second)
    assert needed.episodes == episodes_for_shares(second, first).episodes
    powers = [shares_power(first, second, needed.episodes + more, needed.episodes + more) for more in range(STEPS)]
    assert min(powers) >= 0.8
    assert needed.power == pytest.approx(powers[0])
    assert needed.episodes == 2 or shares_power(first, second, needed.episodes - 1, needed.episodes - 1) < 0.8


@given(st.floats(0.05, 3), st.floats(0.2, 5))
def test_the_episodes_for_means_are_the_first_that_can_tell_them(effect: float, spread: float) -> None:
    needed = episodes_for_means(effect * spread, spread, spread)
    size = needed.episodes
    assert needed.power == pytest.approx(welch_power(effect, 1, 1, size, size))
    assert welch_power(effect, 1, 1, size, size) >= 0.8
    assert size == 25 or welch_power(effect, 1, 1, size - 1, size - 1) < 0.8


def test_beyond_a_thousand_episodes_the_number_is_an_approximation_and_says_so() -> None:
    needed = episodes_for_shares(0.5, 0.55)
    assert needed.episodes > MOST_EXACT
    assert (needed.power, needed.test) == (None, "normal approximation")
    assert detectable_shares(0.5, 3000, 3000) == (None, None)


@pytest.mark.parametrize(("first", "second"), [(0.3, 0.3), (-0.1, 0.5), (0.5, 1.1), (0.5, nan)])
def test_shares_that_are_none_are_refused(first: float, second: float) -> None:
    with pytest.raises(ValueError, match="are not accepted; give two different shares from 0 to 1"):
        episodes_for_shares(first, second)


@pytest.mark.parametrize(("difference", "spread"), [(0.0, 1.0), (1.0, 0.0), (1.0, -1.0), (1.0, nan), (nan, 1.0)])
def test_a_difference_or_spread_that_is_none_is_refused(difference: float, spread: float) -> None:
    with pytest.raises(ValueError, match="is not accepted; the difference must not be 0"):
        episodes_for_means(difference, spread, spread)


def test_differences_too_small_for_any_run_are_refused_and_not_searched_for_ever() -> None:
    with pytest.raises(ValueError, match="too close"):
        episodes_for_shares(0.5, 0.5000001)
    with pytest.raises(ValueError, match="too small"):
        episodes_for_means(1e-6, 1, 1)
