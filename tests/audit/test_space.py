"""The allocations that an audit tries, and the bounds within which all play stays."""

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.audit.allocations import MOST_ENUMERATED, allocations, count, partitions, search
from inspect_dining.audit.probe import PLAIN, Probe, Setting, even, hogs, most_meals
from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import Shaping, paper, proportional, shaping
from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.table import Record, Rules, play
from inspect_dining.table.players.scripted import players_under
from inspect_dining.table.rules import Order
from tests.audit import shapings
from tests.table.dinners import records

Reward = Callable[[Terms], float]
SMALL = st.tuples(st.integers(1, 5), st.integers(0, 9), st.integers(1, 4))


@given(SMALL)
def test_partitions_are_all_allocations_once_for_all_orders(size: tuple[int, int, int]) -> None:
    n, most, cap = size
    every = [meals for meals in product(range(cap + 1), repeat=n) if sum(meals) <= most]
    assert sorted(allocations(n, most, cap)) == sorted(every)
    assert sorted(partitions(n, most, cap)) == sorted({tuple(sorted(meals, reverse=True)) for meals in every})


@given(SMALL)
def test_allocations_are_counted_without_being_made(size: tuple[int, int, int]) -> None:
    n, most, cap = size
    assert count(n, most, cap, symmetric=True) == len(list(partitions(n, most, cap)))
    assert count(n, most, cap, symmetric=False) == len(list(allocations(n, most, cap)))


@given(st.integers(0, 40), st.integers(1, 12), st.data())
def test_an_even_split_differs_by_at_most_one_and_hogs_leave_at_most_one_half_fed(
    meals: int, n: int, data: st.DataObject
) -> None:
    fed = data.draw(st.integers(1, n))
    split = even(meals, n, fed)
    assert len(split) == n
    assert sum(split) == meals
    assert max(split[:fed]) - min(split[:fed]) <= 1
    assert not any(split[fed:])
    cap = data.draw(st.integers(max(1, -(-meals // n)), meals + 1))
    greedy = hogs(meals, n, cap)
    assert len(greedy) == n
    assert sum(greedy) == meals
    assert sum(0 < eaten < cap for eaten in greedy) <= 1


def _stays_within(record: Record) -> None:
    episode = terms(record)
    setting = Setting(deadlock=episode.played if episode.deadlocked else None)
    probe = Probe(shaping("paper"), episode.n, episode.rounds)
    assert episode.eaten <= probe.most(setting)
    assert max(episode.meals) <= probe.cap(setting)


@given(records(full=True))
def test_no_play_under_any_rules_leaves_the_bounds(record: Record) -> None:
    """A pass of the audit is a claim about all play: one game outside the bounds would break it."""
    _stays_within(record)


@pytest.mark.parametrize("player", players_under(Rules(5)))
@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
def test_no_scripted_player_leaves_the_bounds(player: str, order: Order) -> None:
    for n, rounds, seed in product((2, 3, 5), (4, 9, 14), range(5)):
        _stays_within(play(Rules(n=n, rounds=rounds, order=order), player, seed))


def test_nothing_is_eaten_in_the_rounds_before_a_first_meal() -> None:
    assert most_meals(5, 0) == 0
    probe = Probe(shaping("paper"), 5, 10)
    assert [probe.most(Setting(deadlock=number)) for number in (1, 2, 3, 4)] == [0, 0, 0, 2]


@pytest.mark.parametrize("name", ["paper", "meal_gated", "proportional"])
def test_the_shapings_of_the_package_are_decided_by_structure(name: str) -> None:
    found = search(Probe(shaping(name), 15, 30))
    assert found.exact
    assert found.method.startswith("Proved")


def test_a_negative_weight_of_variance_is_not_concave_and_is_enumerated() -> None:
    """The structure decides only where it favours even splits; a reward for uneven ones must not be taken for it."""
    found = search(Probe(shaping("paper", weights=(1, 0.5, -0.3, 0.1)), 5, 12))
    assert found.exact
    assert found.method.startswith("Enumerated")
    assert len(found.allocations) == count(5, most_meals(5, 12), 4, symmetric=True)


@pytest.mark.parametrize(("n", "rounds"), [(2, 9), (3, 12), (4, 10), (5, 9)])
@pytest.mark.parametrize(("name", "function"), [("paper", paper), ("proportional", proportional)])
def test_what_is_decided_by_structure_is_what_enumeration_finds(
    name: str, function: Reward, n: int, rounds: int
) -> None:
    """At every number of meals and of unfed seats the extremes must be those over all allocations."""
    known, unknown = Probe(shaping(name), n, rounds), Probe(Shaping("unknown", function), n, rounds)
    chosen, every = search(known), search(unknown)
    assert every.method.startswith("Enumerated")
    for total in range(known.most() + 1):
        for unfed in range(n):
            of_all = [known.reward(m) for m in every.allocations if sum(m) == total and m.count(0) >= unfed]
            of_few = [known.reward(m) for m in chosen.allocations if sum(m) == total and m.count(0) >= unfed]
            if of_all:
                assert max(of_few) == pytest.approx(max(of_all), abs=1e-12)
        if total:
            lowest = min(known.reward(m) for m in every.allocations if sum(m) == total)
            assert min(known.reward(m) for m in chosen.allocations if sum(m) == total) == pytest.approx(lowest)


def test_a_function_of_ones_own_is_enumerated_once_for_all_orders_if_they_make_no_difference() -> None:
    found = search(Probe(Shaping("own", shapings.most_meals), 4, 10))
    assert found.symmetric
    assert "the order of the seats made no difference where tried" in found.method
    assert len(found.allocations) == count(4, most_meals(4, 10), 3, symmetric=True)


def test_a_function_that_favours_a_seat_is_tried_in_every_order() -> None:
    found = search(Probe(Shaping("own", shapings.favourite), 4, 10))
    assert not found.symmetric
    assert found.exact
    assert len(found.allocations) == count(4, most_meals(4, 10), 3, symmetric=False)


@pytest.mark.parametrize("function", [shapings.most_meals, shapings.favourite])
def test_a_large_table_is_searched_and_says_that_it_is_no_proof(function: Reward) -> None:
    found = search(Probe(Shaping("own", function), 15, 30))
    assert not found.exact
    assert found.method.startswith("Searched, not proved")
    assert 0 < len(found.allocations) < MOST_ENUMERATED
    assert all(sum(meals) <= most_meals(15, 30) and max(meals) <= 10 for meals in found.allocations)


def test_a_shaping_that_raises_or_gives_no_number_is_named_with_its_episode() -> None:
    with pytest.raises(BadInput, match=r"own raised ZeroDivisionError .* for Terms\(n=3"):
        Probe(Shaping("own", shapings.broken), 3, 5).reward((0, 0, 0))
    with pytest.raises(BadInput, match="own returned nan for Terms"):
        Probe(Shaping("own", shapings.not_a_number), 3, 5).reward((1, 0, 0))


def test_a_change_of_reward_is_told_by_its_parts_or_by_the_terms() -> None:
    known, unknown = Probe(shaping("paper"), 5, 5), Probe(Shaping("own", paper), 5, 5)
    assert known.why((0,) * 5, (1, 0, 0, 0, 0), PLAIN) == "throughput +0.020, meal_variance -0.048"
    assert unknown.why((0,) * 5, (1, 0, 0, 0, 0), PLAIN) == (
        "throughput 0 to 0.04, meal_variance 0 to 0.16, starved 1 to 0.8"
    )


def test_a_setting_lays_its_turns_out_in_whole_numbers() -> None:
    probe = Probe(shaping("paper"), 5, 7)
    episode = probe.terms((1, 0, 0, 0, 0), Setting(thinking=0.25, losing=0.5))
    assert (episode.turns, episode.lost_count, episode.thinks, episode.played) == (35, 17, 8, 7)
    assert probe.terms((0,) * 5, Setting(deadlock=2)).deadlocked
    assert str(Setting(deadlock=2, losing=0.25)) == "deadlocked in round 2, 25% of turns lost"
