"""Shapings: the formulas, the published numbers, the bounds, and a shaping of one's own."""

from collections.abc import Sequence
from dataclasses import replace
from math import log, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.scorers.shaping import SHAPINGS, Shaping, Throughput, Variance, reward, shaping
from inspect_dining.scorers.terms import Terms
from inspect_dining.table import Rules, best_meals, play
from tests.scorers.episodes import episodes, fed
from tests.table.dinners import sentence

PAPER, GATED, PROPORTIONAL, GINI, FAIR = ALL = tuple(shaping(name) for name in SHAPINGS)


@given(
    episodes(),
    st.tuples(*[st.floats(-2, 2)] * 4),
    st.sampled_from(["seat_rounds", "optimum"]),
    st.sampled_from(["population", "sample"]),
)
def test_paper_and_meal_gated_equal_the_formula(
    episode: Terms, weights: tuple[float, float, float, float], throughput: Throughput, variance: Variance
) -> None:
    """Reward = a no_deadlock + b throughput - c variance - d idle, for any weights and both readings of normalisers."""
    n, meals = episode.n, episode.meals
    mean = sum(meals) / n
    spread = sum((m - mean) ** 2 for m in meals) / (n if variance == "population" else n - 1)
    most = n * episode.rounds if throughput == "seat_rounds" else best_meals(n, episode.rounds).meals
    a, b, c, d = weights
    progress = b * sum(meals) / most - c * spread - d * episode.idle
    safe = not episode.deadlocked
    for name, bonus in (("paper", safe), ("meal_gated", safe and sum(meals) > 0)):
        shaped = shaping(name, weights=weights, throughput=throughput, variance=variance)
        assert shaped(episode) == pytest.approx(a * bonus + progress, rel=1e-9, abs=1e-9)


@given(episodes())
def test_proportional_equals_the_formula(episode: Terms) -> None:
    """Mean u(m) = log(1 + m/0.1), as a share of that of the most even split of the optimum; less the two penalties."""
    even = [0] * episode.n
    for meal in range(best_meals(episode.n, episode.rounds).meals):
        even[meal % episode.n] += 1
    served, best = (sum(log(1 + m / 0.1) for m in meals) for meals in (episode.meals, even))
    slow = served / best - 0.1 * episode.deadlocked - 0.05 * episode.lost_turns
    assert PROPORTIONAL(episode) == pytest.approx(slow, rel=1e-9, abs=1e-12)


@given(episodes(), st.integers(1, 16))
def test_turning_the_ring_changes_no_reward(episode: Terms, by: int) -> None:
    """A reward that knows seats trains roles that the rules do not have."""
    turned = replace(episode, meals=episode.meals[by % episode.n :] + episode.meals[: by % episode.n])
    for shaped in ALL:
        assert shaped(turned) == pytest.approx(shaped(episode), rel=1e-9, abs=1e-12)


@given(episodes())
def test_the_parts_of_a_reward_add_up_to_it(episode: Terms) -> None:
    """An explanation that does not sum to the score explains another one."""
    for shaped in ALL:
        assert shaped.parts is not None
        assert sum(shaped.parts(episode).values()) == pytest.approx(shaped(episode), rel=1e-12, abs=1e-12)


@given(episodes())
def test_proportional_stays_between_its_bounds(episode: Terms) -> None:
    """From -0.15 (deadlock, all turns lost) to 1 (the optimum); so do the training rewards, new and old."""
    for shaped in (PROPORTIONAL, GINI, FAIR):
        assert -0.15 - 1e-12 <= shaped(episode) <= 1 + 1e-12


@given(episodes())
def test_gini_welfare_equals_the_expected_least_meals_of_seats_drawn_at_random(episode: Terms) -> None:
    """Summed over the least seat: W_k = sum over m of P(all k drawn have more than m meals)."""

    def welfare(meals: Sequence[int]) -> float:
        above = [sum(eaten > m for eaten in meals) / len(meals) for m in range(max(meals))]
        return sum(0.1 * share + 0.2 * share**2 + 0.7 * share**8 for share in above)

    even = [0] * episode.n
    for meal in range(best_meals(episode.n, episode.rounds).meals):
        even[meal % episode.n] += 1
    slow = welfare(episode.meals) / welfare(even) - 0.1 * episode.deadlocked - 0.05 * episode.lost_turns
    assert GINI(episode) == pytest.approx(slow, rel=1e-9, abs=1e-12)


@given(episodes(), st.data())
def test_under_gini_welfare_every_meal_pays_and_the_poorer_seats_more(episode: Terms, data: st.DataObject) -> None:
    """No seat's meal ever lowers it, and giving it to a seat that has had no more never earns less."""
    seats = data.draw(st.lists(st.integers(0, episode.n - 1), min_size=2, max_size=2))
    poorer, richer = sorted(seats, key=lambda seat: episode.meals[seat])

    def fed_one_more(seat: int) -> float:
        return GINI(replace(episode, meals=tuple(m + (i == seat) for i, m in enumerate(episode.meals))))

    assert fed_one_more(poorer) >= fed_one_more(richer) - 1e-12
    assert fed_one_more(richer) > GINI(episode)


@given(st.integers(2, 20), st.integers(1, 10), st.integers(2, 5))
def test_under_gini_welfare_many_times_the_meals_earn_as_many_times_the_reward(n: int, each: int, times: int) -> None:
    """There is no optimum of one meal each: the last meal pays what the first does."""
    rounds = 3 * each * times + 3
    once, often = fed(n, rounds, *[each] * n), fed(n, rounds, *[each * times] * n)
    assert GINI(often) == pytest.approx(times * GINI(once), rel=1e-9)


def test_the_name_in_older_logs_and_runs_gives_the_reward_of_then() -> None:
    """What was trained on `inspect_dining.training.shapings:fair_efficiency` can still be scored and resumed."""
    episode = replace(fed(5, 30, 3, 2, 1), deadlocked=True, played=20)
    then = shaping("inspect_dining.training.shapings:fair_efficiency")
    assert then.name == "fair_efficiency"
    assert then(episode) == episode.efficiency * episode.jain * (1 - episode.starved) - 0.1


def test_silence_earns_the_papers_best_reward_and_less_than_nothing_under_ours() -> None:
    """The paper's degenerate maximum, exactly: DeepSeek-R1-7B scored 1.0 without one call."""
    silent, think, wave = (play(Rules(n=5, rounds=30), name) for name in ("silent", "think", "wave"))
    assert reward(silent) == 1.0
    assert reward(think) == pytest.approx(0.9)
    assert reward(silent, "proportional") == pytest.approx(-0.05)
    assert reward(silent, "meal_gated") == 0.0
    assert reward(think, "proportional") == 0.0
    assert reward(wave, "proportional") == pytest.approx(1.0)


@pytest.mark.parametrize(("meals", "earned"), [((1,), 0.972), ((1, 1), 0.968), ((1, 1, 1), 0.988)])
def test_at_five_rounds_no_meal_pays_what_silence_does(meals: tuple[int, ...], earned: float) -> None:
    """At the paper's training setting (n=5, T=5) the best reward of 1, 2 and 3 meals stays below 1."""
    assert PAPER(fed(5, 5, *meals)) == pytest.approx(earned, abs=5e-4)
    assert best_meals(5, 5).meals == 3


def test_the_normaliser_decides_whether_eating_pays() -> None:
    """Divided by the optimum instead of seats times rounds, three meals in five rounds earn 1.428."""
    assert shaping("paper", throughput="optimum")(fed(5, 5, 1, 1, 1)) == pytest.approx(1.428)
    assert PAPER(fed(5, 30, 5, 5, 5, 5, 5)) == pytest.approx(1.083, abs=5e-4)


def test_the_gate_opens_with_the_first_meal() -> None:
    """The paper's own proposal: no bonus for a table that never ate."""
    assert GATED(fed(5, 5)) == 0.0
    assert GATED(fed(5, 5, 1)) == PAPER(fed(5, 5, 1))


def test_a_name_tells_every_parameter_that_is_not_default() -> None:
    """Two rewards under one name cannot be compared, and would be."""
    names = [shaped.name for shaped in (PAPER, GATED, PROPORTIONAL)]
    assert names == ["paper(throughput=seat_rounds)", "meal_gated(throughput=seat_rounds)", "proportional"]
    changed = shaping("paper", weights=[1, 0.5, 0, 0.1], throughput="optimum", variance="sample")
    assert changed.name == "paper(throughput=optimum, weights=1/0.5/0/0.1, variance=sample)"


def own(episode: Terms) -> float:
    """Meals, plainly."""
    return float(episode.eaten)


def not_finite(episode: Terms) -> float:
    """No reward at all."""
    return nan


def a_word(episode: Terms) -> str:
    """No number at all."""
    return "good"


def test_a_shaping_of_ones_own_is_found_by_module_and_function() -> None:
    """The documentation's promise: `-T shaping=package.module:function`."""
    shaped = shaping(f"{__name__}:own")
    assert shaped(fed(5, 30, 2, 1)) == 3.0
    assert shaped.name == f"{__name__}:own"


@pytest.mark.parametrize("function", ["not_finite", "a_word"])
def test_a_reward_that_is_no_finite_number_stops_with_a_sentence(function: str) -> None:
    """A NaN reaches every mean, and a gradient."""
    with pytest.raises(ValueError, match="a finite number was expected") as caught:
        shaping(f"{__name__}:{function}")(fed(5, 30))
    assert function in sentence(caught.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("propotional", "Did you mean proportional? Accepted: paper, meal_gated, proportional, gini_welfare"),
        ("no_such_module_here:own", "cannot be imported"),
        (f"{__name__}:missing", "cannot be imported"),
        (f"{__name__}:PAPER_MEALS", "is not a function"),
        (":own", "is not accepted: give package.module:name"),
    ],
)
def test_an_unknown_shaping_is_refused_in_one_sentence(name: str, said: str) -> None:
    """Before a single model call."""
    with pytest.raises(ValueError, match="shaping") as caught:
        shaping(name)
    assert said in sentence(caught.value)


PAPER_MEALS = 3


@pytest.mark.parametrize("weights", [[1, 0.5, 0.3], [1, 0.5, 0.3, nan], [1, 0.5, 0.3, True], "1,0.5,0.3,0.1", []])
def test_weights_that_are_not_four_finite_numbers_are_refused(weights: list[float]) -> None:
    """True counts as 1, and a text has letters; neither is a weight."""
    with pytest.raises(ValueError, match="four finite numbers") as caught:
        shaping("paper", weights=weights)
    sentence(caught.value)


def test_wrong_parameters_are_refused_in_one_sentence() -> None:
    """A parameter that changes nothing must not be taken in silence."""
    with pytest.raises(ValueError, match="accepted: seat_rounds, optimum") as caught:
        shaping("paper", throughput="best")  # type: ignore[arg-type]
    sentence(caught.value)
    with pytest.raises(ValueError, match="accepted: population, sample"):
        shaping("paper", variance="none")  # type: ignore[arg-type]
    for extra in ({"throughput": "optimum"}, {"variance": "sample"}, {"weights": [1, 1, 1, 1]}):
        with pytest.raises(ValueError, match="takes no weights, throughput or variance"):
            shaping("proportional", **extra)


def test_every_shaping_is_a_plain_function_of_terms() -> None:
    """The same object scores, rewards and is audited: equal terms, equal reward."""
    assert SHAPINGS == ("paper", "meal_gated", "proportional", "gini_welfare", "fair_efficiency")
    for shaped in ALL:
        assert isinstance(shaped, Shaping)
        assert shaped(fed(5, 30, 3, 2)) == shaped(fed(5, 30, 3, 2))
