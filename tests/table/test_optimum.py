"""The most meals: proved again by the solver, by an exhaustive search of the real game, and bounded."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from inspect_dining.table import Rules, Table, best_meals
from inspect_dining.table.moves import ACTS
from inspect_dining.table.optimum.ring import Best, _bound, solve
from inspect_dining.table.rules import Order
from inspect_dining.table.table import end_round, move
from tests.table.dinners import sentence

HORIZON = 50
State = tuple[tuple[int, ...], tuple[bool, ...]]


def published() -> list[tuple[int, list[int]]]:
    """The numbers of best.tsv, whose first line says where they come from: n, and its meals for T = 1..50."""
    lines = (Path(__file__).parent / "best.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [[int(number) for number in line.split("\t")] for line in lines]
    return [(row[0], row[1:]) for row in rows]


def shipped(n: int) -> list[int]:
    """What `best_meals` says for T = 1..50; all of it must be exact."""
    best = [best_meals(n, rounds) for rounds in range(1, HORIZON + 1)]
    assert all(one.exact for one in best)
    return [one.meals for one in best]


@pytest.mark.parametrize(("n", "meals"), published())
def test_best_meals_agrees_with_the_published_table(n: int, meals: list[int]) -> None:
    """Two solvers that share no code must find the same optimum, or `efficiency` means nothing."""
    assert shipped(n) == meals


@pytest.mark.parametrize("n", [*range(2, 11), *(pytest.param(n, marks=pytest.mark.slow) for n in (11, 12, 13))])
def test_the_solver_proves_what_is_shipped(n: int) -> None:
    """A number in the table that nothing proves is a guess."""
    assert shipped(n) == solve(n, HORIZON)


def after_every_play(state: State, rules: Rules) -> dict[State, int]:
    """Every state that one round of any joint play can lead to, with the most meals on the way there."""
    n = rules.n
    start = Table(1, *state, (0,) * n, 0, (None,) * n)
    groups = [range(n)] if rules.order == "simultaneous" else [(seat,) for seat in range(n)]
    tables = {start}
    for seats in groups:
        tables = {
            Table(1, moved.held, moved.spent, moved.meals, 0, start.last)
            for table in tables
            for readings in product(ACTS.values(), repeat=len(seats))
            for moved in (move(table, seats, readings, lambda number, fork: fork),)
        }
    most: dict[State, int] = {}
    for table in tables:
        ended = end_round(table, rules)
        key = (ended.held, ended.spent)
        most[key] = max(most.get(key, 0), sum(ended.meals))
    return most


def searched(rules: Rules) -> list[int]:
    """The most meals in 1..50 rounds by exhaustive search of the real game: all states, all joint actions."""
    empty: State = (Table.empty(rules.n).held, Table.empty(rules.n).spent)
    graph: dict[State, dict[State, int]] = {}
    open_states = [empty]
    while open_states:
        state = open_states.pop()
        if state not in graph:
            locked = sorted(state[0]) == list(range(rules.n))
            graph[state] = {state: 0} if locked else after_every_play(state, rules)
            open_states += graph[state]
    value = dict.fromkeys(graph, 0)
    best = []
    for _ in range(HORIZON):
        value = {state: max(meals + value[after] for after, meals in graph[state].items()) for state in graph}
        best.append(value[empty])
    return best


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_no_play_of_the_real_game_eats_more_and_some_play_eats_as_much(n: int) -> None:
    """The solver leaves out put-downs and idling, and knows nothing of `move`: here the game itself is searched."""
    assert searched(Rules(n=n)) == shipped(n)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_sequential_order_has_the_same_optimum(n: int) -> None:
    """`efficiency` divides by the same number in both orders."""
    assert searched(Rules(n=n, order="sequential")) == shipped(n)


@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
@pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_manual_release_never_eats_more(n: int, order: Order) -> None:
    """The number must bound every rule set: an efficiency above 1 would be a lie."""
    found = searched(Rules(n=n, order=order, release="manual"))
    assert all(meals <= most for meals, most in zip(found, shipped(n), strict=True))
    if order == "simultaneous" and n > 2:
        rate = {3: Fraction(1, 9), 4: Fraction(1, 8)}[n]  # meals per seat and round in the long run
        assert found[-1] - found[-1 - 12] == 12 * n * rate


def test_the_bound_is_never_below_the_exact_number_and_is_told_apart() -> None:
    """A bound below the optimum would let an efficiency exceed 1; one called exact would hide what is not known."""
    for n in range(2, 16):
        for rounds in range(3, HORIZON + 1):
            assert _bound(n, rounds) >= best_meals(n, rounds).meals, (n, rounds)
    assert {n: _bound(n, 30) for n in (7, 8, 10, 15)} == {7: 40, 8: 46, 10: 57, 15: 86}
    assert best_meals(15, 30) == Best(84, exact=True)
    assert best_meals(16, 30) == Best(_bound(16, 30), exact=False)
    assert best_meals(5, 51) == Best(_bound(5, 51), exact=False)


def test_more_rounds_or_more_seats_never_eat_less() -> None:
    """Over the edge from exact numbers to bounds as well."""
    for n in range(2, 18):
        for rounds in range(1, 56):
            meals = best_meals(n, rounds).meals
            assert meals <= best_meals(n, rounds + 1).meals
            assert meals <= best_meals(n + 1, rounds).meals


def test_two_rounds_feed_nobody_at_any_table() -> None:
    """For n without a proof, one or two rounds once failed inside the linear programme."""
    assert [best_meals(n, rounds) for n in (5, 16) for rounds in (1, 2)] == [Best(0, exact=True)] * 4


@pytest.mark.parametrize(("n", "rounds"), [(1, 30), (5, 0)])
def test_a_table_that_cannot_be_is_refused_in_one_sentence(n: int, rounds: int) -> None:
    """The linear programme would answer something."""
    with pytest.raises(ValueError, match=f"n={n}, rounds={rounds}") as caught:
        best_meals(n, rounds)
    sentence(caught.value)
