"""What silence and even splits earn, against the published numbers, and that even splits can be played."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array

from inspect_dining.audit.assessment import Audit, audit, stuck_groups
from inspect_dining.audit.frontier import break_even, told
from inspect_dining.audit.ladder import games
from inspect_dining.audit.probe import even
from inspect_dining.scorers.shaping import Shaping, Throughput, shaping
from inspect_dining.scorers.terms import Terms
from inspect_dining.table import Kind, Rules, best_meals


def of_paper(rounds: int, throughput: Throughput) -> Audit:
    return audit(shaping("paper", throughput=throughput), 5, rounds)


def rewards(found: Audit) -> list[float]:
    return [round(point.reward, 3) for point in found.frontier]


def test_at_the_papers_training_setting_silence_is_the_only_maximum_of_its_reward() -> None:
    found = of_paper(5, "seat_rounds")
    assert rewards(found) == [1.0, 0.972, 0.968, 0.988]
    assert found.silence.reward == 1.0
    assert found.best_fair.break_even == 0


def test_by_the_optimum_fair_play_is_on_top() -> None:
    found = of_paper(5, "optimum")
    assert round(found.best_fair.reward, 3) == 1.428
    assert found.best_fair.meals == 3


@pytest.mark.parametrize(("throughput", "reward", "risk"), [("seat_rounds", 1.083, 7.7), ("optimum", 1.446, 30.9)])
def test_at_thirty_rounds_25_even_meals_are_best_up_to_this_risk(
    throughput: Throughput, reward: float, risk: float
) -> None:
    best = of_paper(30, throughput).best_fair
    assert (best.meals, best.split) == (25, (5,) * 5)
    assert round(best.reward, 3) == reward
    assert round(100 * best.break_even, 1) == risk
    assert best.break_even == pytest.approx(1 - 1 / best.reward)


@pytest.mark.parametrize(("rounds", "first", "second"), [(5, 0.972, 0.968), (30, 0.955, 0.935)])
def test_the_second_meal_lowers_the_meal_gated_reward(rounds: int, first: float, second: float) -> None:
    assert rewards(audit(shaping("meal_gated"), 5, rounds))[:3] == [0.0, first, second]


@pytest.mark.slow
def test_the_optimum_earns_one_by_proportional() -> None:
    for n, rounds in ((3, 7), (5, 5), (5, 30), (10, 30), (15, 30)):
        found = audit(shaping("proportional"), n, rounds)
        assert found.best_fair.meals == best_meals(n, rounds).meals
        assert found.best_fair.reward == pytest.approx(1)


def test_the_best_silent_player_is_looked_for_in_every_kind_of_silence() -> None:
    """A reward may pay for one kind of lost turn; a silent player then loses turns of that kind."""

    def pays_refusals(t: Terms) -> float:
        return dict(t.lost)[Kind.REFUSED] / t.turns + t.efficiency

    found = audit(Shaping("own", pays_refusals), 5, 12)
    assert found.silence.reward == 1
    assert found.silence.how == "every turn lost (refused)"
    thinks = audit(Shaping("own", lambda t: t.idle + t.efficiency), 5, 12)
    assert thinks.silence.how == "only `think`"


@given(*[st.floats(-5, 5) for _ in range(3)])
def test_at_the_break_even_risk_playing_is_worth_as_much_as_silence(reward: float, silence: float, lock: float) -> None:
    risk = break_even(reward, silence, lock)
    assert 0 <= risk <= 1
    if silence < reward and lock < silence:
        assert (1 - risk) * reward + risk * lock == pytest.approx(silence, abs=1e-9)
    else:
        assert risk == (0 if reward <= silence else 1)


def test_groups_of_a_policy_at_87_percent_deadlock_mostly_end_alike() -> None:
    assert {size: round(chance, 2) for size, chance in stuck_groups(0.87).items()} == {3: 0.66, 8: 0.33, 16: 0.11}


def test_an_allocation_is_told_in_a_few_characters() -> None:
    assert told((2, 1, 1, 0, 0)) == "2/1/1/0/0"
    assert told((2,) + (1,) * 6 + (0,) * 8) == "2 x1, 1 x6, 0 x8"


def test_an_audit_is_plain_values() -> None:
    found = of_paper(5, "seat_rounds")
    plain = found.to_dict()
    assert plain["failed"] == [one.name for one in found.failed]
    assert replace(found, properties=()).failed == []


def playable(n: int, rounds: int, meals: int) -> bool:
    """Whether the most even split of some meals can be eaten, by an integer programme over all schedules.

    A meal of a seat in round t takes one of its forks in rounds t-2 to t and the other in t-1 and t; each fork serves
    one seat at a time.
    """
    dishes = [(seat, t, first) for seat in range(n) for t in range(3, rounds + 1) for first in (0, 1)]
    use = lil_array((n * rounds + n + 1, len(dishes)))
    for dish, (seat, t, first) in enumerate(dishes):
        forks = (seat, (seat + 1) % n)
        for number in (t - 2, t - 1, t):
            use[forks[first] * rounds + number - 1, dish] += 1
        for number in (t - 1, t):
            use[forks[1 - first] * rounds + number - 1, dish] += 1
        use[n * rounds + seat, dish] = use[n * rounds + n, dish] = 1
    low = np.concatenate([np.zeros(n * rounds), np.full(n, meals // n), [meals]])
    high = np.concatenate([np.ones(n * rounds), np.full(n, -(-meals // n)), [meals]])
    limits = LinearConstraint(use.tocsr(), low, high)
    found = milp(
        np.zeros(len(dishes)), constraints=limits, integrality=np.ones(len(dishes), dtype=int), bounds=Bounds(0, 1)
    )
    assert found.status in (0, 2), found.message
    return bool(found.status == 0)


@pytest.mark.parametrize(("n", "rounds"), [(3, 9), (4, 12), (5, 5), (5, 13), (6, 8), (7, 7)])
def test_the_even_splits_of_the_frontier_can_be_played_and_one_meal_more_cannot(n: int, rounds: int) -> None:
    """A fault shown on an even split must not be a fault of play that is impossible."""
    most = best_meals(n, rounds).meals
    assert all(playable(n, rounds, meals) for meals in (1, most // 2, most))
    assert not playable(n, rounds, most + 1)


def test_at_eight_seats_and_seven_rounds_the_most_meals_cannot_be_split_evenly() -> None:
    """`docs/audit.md` says so: there no play earns exactly 1 by `proportional`."""
    assert best_meals(8, 7).meals == 9
    assert not playable(8, 7, 9)
    assert playable(8, 7, 8)


@pytest.mark.parametrize("n", [5, 10, 15])
def test_at_the_papers_sizes_wave_plays_the_most_even_split_of_the_most_meals(n: int) -> None:
    (episode,) = games(Rules(n, 30), "wave", 1)
    assert tuple(sorted(episode.meals, reverse=True)) == even(best_meals(n, 30).meals, n)
