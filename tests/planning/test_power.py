"""Sample sizes, against published tables, the reverse functions, and simulation."""

from math import comb, nan, sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from inspect_dining.planning.power import (
    MOST_EXACT,
    episodes_for_fisher,
    episodes_for_means,
    episodes_for_shares,
    fisher_power,
    welch_power,
)
from inspect_dining.statistics import detectable_g, detectable_shares


def test_thirty_against_thirty_tells_013_only_from_045_and_030_takes_about_ninety() -> None:
    assert detectable_shares(0.13, 30, 30)[0] == pytest.approx(0.45, abs=0.01)
    assert episodes_for_shares(0.13, 0.45) == 30
    assert episodes_for_shares(0.13, 0.30) == 89


def test_means_half_a_deviation_apart_take_64_as_in_cohens_tables() -> None:
    """Cohen (1988), table 2.4.1: d = 0.2, 0.5, 0.8 at two-sided 5% and power 0.80 (394 exactly; the table rounds)."""
    assert [episodes_for_means(d, 1, 1) for d in (0.2, 0.5, 0.8)] == [394, 64, 26]


@given(st.floats(0.02, 0.98), st.floats(0.02, 0.98))
def test_the_episodes_for_shares_are_the_first_that_can_tell_them(first: float, second: float) -> None:
    if abs(first - second) < 0.01:
        return
    episodes = episodes_for_shares(first, second)
    assert episodes == episodes_for_shares(second, first)

    def tells(count: int) -> bool:
        above, below = detectable_shares(first, count, count)
        limit = above if second > first else below
        return limit is not None and (second >= limit - 1e-9 if second > first else second <= limit + 1e-9)

    assert tells(episodes)
    assert episodes == 2 or not tells(episodes - 1)


@given(st.floats(0.05, 3), st.floats(0.2, 5))
def test_the_episodes_for_means_are_the_first_that_can_tell_them(effect: float, spread: float) -> None:
    episodes = episodes_for_means(effect * spread, spread, spread)
    found, before = detectable_g(episodes, episodes), detectable_g(episodes - 1, episodes - 1)
    assert found is not None
    assert found <= effect + 1e-6
    assert before is None or before > effect - 1e-6


@pytest.mark.parametrize(("spread1", "spread2", "episodes"), [(1, 1, 20), (1, 3, 12), (0.5, 0.1, 8)])
def test_the_power_of_welchs_test_is_what_simulation_finds(spread1: float, spread2: float, episodes: int) -> None:
    random = np.random.default_rng(7)
    difference = 0.9 * sqrt((spread1**2 + spread2**2) / 2)
    first = random.normal(0, spread1, (20_000, episodes))
    second = random.normal(difference, spread2, (20_000, episodes))
    test = stats.ttest_ind(second, first, axis=1, equal_var=False)
    found = np.mean((test.pvalue <= 0.05) & (test.statistic > 0))
    assert welch_power(difference, spread1, spread2, episodes) == pytest.approx(found, abs=0.015)


@settings(max_examples=40)
@given(st.integers(2, 14), st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.01, 0.05, 0.2]))
@example(4, 0.0, 2.3e-308, 0.05)
@example(3, 0.4, 0.7, 0.1)  # two of its p-values are exactly 0.1
def test_the_power_of_fishers_test_sums_its_p_values(episodes: int, first: float, second: float, alpha: float) -> None:
    def rejects(one: int, other: int) -> bool:
        table = np.array([[one, other], [episodes - one, episodes - other]])
        return bool(stats.fisher_exact(table).pvalue <= alpha * (1 + 1e-9))

    chances = [
        [comb(episodes, count) * share**count * (1 - share) ** (episodes - count) for count in range(episodes + 1)]
        for share in (first, second)
    ]
    by_hand = sum(
        chances[0][one] * chances[1][other]
        for one in range(episodes + 1)
        for other in range(episodes + 1)
        if rejects(one, other)
    )
    assert fisher_power(first, second, episodes, alpha) == pytest.approx(by_hand, abs=1e-9)


@pytest.mark.parametrize(("first", "second"), [(0.13, 0.30), (0.13, 0.45), (0.5, 0.9), (0.0, 0.2), (0.02, 0.12)])
def test_the_episodes_for_fishers_test_suffice_and_one_less_does_not(first: float, second: float) -> None:
    episodes = episodes_for_fisher(first, second)
    assert episodes is not None
    assert fisher_power(first, second, episodes) >= 0.8
    assert fisher_power(first, second, episodes - 1) < 0.8


def test_beyond_a_thousand_episodes_the_exact_number_is_not_computed() -> None:
    assert episodes_for_shares(0.5, 0.55) > MOST_EXACT
    assert episodes_for_fisher(0.5, 0.55) is None


@pytest.mark.parametrize(("first", "second"), [(0.3, 0.3), (-0.1, 0.5), (0.5, 1.1), (0.5, nan)])
def test_shares_that_are_none_are_refused(first: float, second: float) -> None:
    with pytest.raises(ValueError, match="are not accepted; two different shares from 0 to 1 are"):
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
