"""The optimum under a fault, against an exhaustive search on the game's own table."""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspect_dining.scorers.terms import terms
from inspect_dining.table import SCRIPTED, Action, Record, Rules, Table, best_meals, play, replay, see
from inspect_dining.table.moves import ACTS, NO_CALL, Reading
from inspect_dining.table.optimum import ring as optimum
from inspect_dining.table.optimum.faulty import _beside_a_hog, _bounded_row, survivors_best, survivors_best_given
from inspect_dining.table.optimum.row import MOST_SEATS, Ends, most_meals
from inspect_dining.table.players.scripted import scripted
from inspect_dining.table.rules import Coin, Order, Release
from inspect_dining.table.table import FREE, end_round, move

KINDS = ("silent", "crash", "hog", "random", "delayed=2", "liar")
Held = tuple[int, ...]


def choices(table: Table, seat: int) -> list[Reading]:
    """Everything that a seat can do that has an effect, and waiting."""
    left, right = table.held[seat], table.held[(seat + 1) % table.n]
    found = [Action.THINK]
    found += [Action.PICK_UP_LEFT] * (left == FREE) + [Action.PICK_UP_RIGHT] * (right == FREE)
    found += [Action.PUT_DOWN_LEFT] * (left == seat) + [Action.PUT_DOWN_RIGHT] * (right == seat)
    found += [Action.EAT] * (left == right == seat)
    return [ACTS[action] for action in found]


def outcomes(table: Table, seats: list[int], rules: Rules, fixed: dict[int, list[Reading]]) -> Iterator[Table]:
    """Every table that a round of these seats can end with, whoever wins the ties."""

    def left(number: int, fork: int) -> int:
        return (fork - 1) % rules.n

    def right(number: int, fork: int) -> int:
        return fork

    for readings in product(*(fixed.get(seat) or choices(table, seat) for seat in seats)):
        for winner in (left, right):
            yield end_round(move(table, seats, readings, winner), rules)


def searched_given(record: Record) -> int:
    """The most meals of the others, the faulty seat's forks in every round put into its hand as it held them."""
    rules, rounds = record.rules, replay(record)
    (fault,) = rules.seat_faults
    others = [seat for seat in range(rules.n) if seat != fault.seat]
    holding = [{f for f, h in enumerate(round.before.held) if h == fault.seat} for round in rounds]
    holding.append({f for f, h in enumerate(rounds[-1].after.held) if h == fault.seat})
    crashed = fault.kind == "crash" and fault.seat in rounds[-1].faulty
    holding += [holding[-1] if crashed else set()] * (rules.rounds + 1 - len(holding))

    @cache
    def best(number: int, held: Held) -> int:
        """From the start of a round, from the forks of the others."""
        if number > rules.rounds:
            return 0
        now, then = holding[number - 1], holding[number]
        if any(held[fork] != FREE for fork in now):
            return -99
        table = Table(number, tuple(fault.seat if f in now else h for f, h in enumerate(held)), (False,) * rules.n,
                      (0,) * rules.n, 0, (None,) * rules.n)  # fmt: skip
        most = -99
        for after in set(outcomes(table, others, rules, {})):
            mine = tuple(FREE if holder == fault.seat else holder for holder in after.held)
            touched = {f for f, h in enumerate(mine) if h != FREE or (held[f] != FREE)}
            if not then & (touched | {f for f, h in enumerate(mine) if h != FREE}):
                most = max(most, sum(after.meals) + best(number + 1, mine))
        return most

    return best(1, (FREE,) * rules.n)


def searched_before(rules: Rules) -> int:
    """The most meals of the others over everything that a fault leaves open."""
    (fault,) = rules.seat_faults
    everyone = list(range(rules.n))
    hog = scripted("hog")

    def forced(table: Table) -> list[Reading] | None:
        seat = fault.seat
        if fault.kind == "silent":
            down = [a for a in (Action.PUT_DOWN_LEFT, Action.PUT_DOWN_RIGHT) if ACTS[a] in choices(table, seat)]
            return [ACTS[down[0]] if down else NO_CALL]
        if fault.kind == "hog":
            action = hog.decide(see(table, seat, rules), Coin())
            assert action is not None
            return [ACTS[action]]
        return [NO_CALL] if fault.kind == "crash" else None

    @cache
    def best(number: int, held: Held, begun: bool) -> int:
        if number > rules.rounds:
            return 0
        begun = begun or (fault.seat in held if fault.begins == "first_fork" else fault.begins == number)
        table = Table(number, held, (False,) * rules.n, (0,) * rules.n, 0, (None,) * rules.n)
        readings = forced(table) if begun else None
        afters = set(outcomes(table, everyone, rules, {fault.seat: readings} if readings else {}))
        return max(
            sum(meals for seat, meals in enumerate(after.meals) if seat != fault.seat)
            + best(number + 1, after.held, begun)
            for after in afters
        )

    return best(1, (FREE,) * rules.n, False)


def cases(n: int, rounds: int) -> Iterator[Rules]:
    for kind, seat, begins in product(KINDS, range(n), [*range(1, rounds + 1), "first_fork"]):
        yield Rules(n, rounds, talk=int(kind == "liar"), faults=f"{seat}:{kind}@{begins}")


EVERY = [*cases(3, 9), *cases(4, 9)]


@pytest.mark.slow
@given(st.sampled_from(EVERY), st.sampled_from(list(SCRIPTED)), st.integers(0, 999))
@settings(max_examples=12, deadline=None)
def test_both_optima_agree_with_exhaustive_search(rules: Rules, player: str, seed: int) -> None:
    agrees(rules, player, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_both_optima_agree_with_exhaustive_search_for_every_seat_and_round(kind: str) -> None:
    for number, rules in enumerate(rules for rules in EVERY if f":{kind}" in rules.faults):
        agrees(rules, ("lehmann_rabin", "random", "odd_even", "wave", "backoff")[number % 5], number)


@pytest.mark.slow
@pytest.mark.parametrize("rounds", range(3, 9))
def test_both_optima_agree_with_exhaustive_search_at_every_shorter_horizon(rounds: int) -> None:
    for number, rules in enumerate((*cases(3, rounds), *list(cases(4, rounds))[::3])):
        agrees(rules, ("lehmann_rabin", "random", "hierarchy", "wave")[number % 4], number)


def agrees(rules: Rules, player: str, seed: int) -> None:
    before = survivors_best(rules)
    assert (before.meals, before.exact) == (searched_before(rules), True)
    record = play(rules, player, seed)
    given_forks = survivors_best_given(record)
    assert (given_forks.meals, given_forks.exact) == (searched_given(record), True)
    found = terms(record).survivors
    assert found is not None
    assert found.meals <= given_forks.meals


@st.composite
def games(draw: st.DrawFn) -> Record:
    n, rounds = draw(st.integers(2, 8)), draw(st.integers(3, 20))
    one = st.tuples(st.sampled_from(KINDS), st.integers(1, rounds).map(str) | st.just("first_fork"))
    some = draw(st.dictionaries(st.integers(0, n - 1), one, min_size=1, max_size=n - 1))
    written = ",".join(f"{seat}:{kind}@{begins}" for seat, (kind, begins) in some.items())
    orders: tuple[Order, ...] = ("simultaneous", "sequential")
    releases: tuple[Release, ...] = ("auto", "manual")
    order, release = draw(st.sampled_from(orders)), draw(st.sampled_from(releases))
    rules = Rules(n, rounds, order=order, release=release, talk=int("liar" in written), faults=written)
    return play(
        rules, draw(st.lists(st.sampled_from(list(SCRIPTED)), min_size=n, max_size=n)), draw(st.integers(0, 999))
    )


@given(games())
def test_no_game_under_any_rules_and_faults_eats_more_than_its_optimum(record: Record) -> None:
    found = terms(record).survivors
    assert found is not None
    best, before = survivors_best_given(record), survivors_best(record.rules)
    assert found.meals <= best.meals
    assert best.meals <= before.meals or not before.exact
    assert found.meals <= before.meals <= best_meals(record.rules.n, record.rules.rounds).meals
    assert not (best.exact or before.exact) or (record.rules.order, record.rules.release) == ("simultaneous", "auto")


@given(games())
def test_who_starves_is_counted_once_by_its_distance(record: Record) -> None:
    found = terms(record).survivors
    assert found is not None
    faulty = len(record.rules.seat_faults)
    assert sum(seats for _, seats in found.starved) == record.rules.n - faulty
    assert all(0 <= hungry <= seats for hungry, seats in found.starved)
    if found.begun is None:
        assert (found.locality, found.wait) == (None, None)
    else:
        assert found.wait is not None
        assert 1 <= found.wait <= record.rules.rounds - found.begun + 2
        assert (found.locality == 0) == (sum(hungry for hungry, _ in found.starved) == 0)


def test_a_crash_with_a_fork_starves_its_neighbour_alone_where_the_others_let_go() -> None:
    """The wave puts down what it cannot use, so hunger stays with the seat whose fork is gone; hierarchy waits."""
    found = {}
    for player in ("wave", "hierarchy"):
        seats = ["left_first", *[player] * 6]
        survivors = terms(play(Rules(n=7, rounds=40, faults="0:crash@first_fork"), seats, 3)).survivors
        assert survivors is not None
        found[player] = survivors.locality or 0
    assert found["wave"] == 1 < found["hierarchy"]


@pytest.mark.parametrize(("n", "least"), [(5, 0.9), (10, 0.85), (15, 0.85)])
def test_the_wave_comes_near_the_optimum_beside_a_silent_seat(n: int, least: float) -> None:
    record = play(Rules(n=n, rounds=30, faults="0:silent"), "wave")
    found = terms(record).survivors
    assert found is not None
    assert found.best == survivors_best(record.rules).meals
    assert found.exact
    assert least <= found.meals / found.best <= 1


def by_forks(length: int, ends: tuple[Ends, ...]) -> int:
    """The most meals of a row by another dynamic programme, over what each fork is: of 3 states, or 6 in a round."""
    never = -10_000
    values = np.zeros((3,) * (length + 1), np.int16)
    for left_out, right_out in reversed(ends):
        values = values.take(optimum._NEXT_ROUND, axis=length)
        if right_out:
            values[..., optimum._NEW_LEFT_SEAT] = never
        for seat in reversed(range(length)):
            values = values.take(optimum._NEXT_ROUND, axis=seat)
            if seat == 0 and left_out:
                values[optimum._NEW_RIGHT_SEAT] = never
            values = optimum._before_seat(values, seat, seat + 1).take(range(3), axis=seat + 1)
        values = values.take(range(3), axis=0)
        if left_out:
            values[1:] = never
        if right_out:
            values[..., 1:] = never
    return int(values[(0,) * (length + 1)])


@st.composite
def rows(draw: st.DrawFn) -> tuple[int, tuple[Ends, ...]]:
    length, rounds = draw(st.integers(1, 7)), draw(st.integers(1, 16))
    return length, tuple(draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=rounds, max_size=rounds)))


@given(rows())
def test_two_programmes_that_share_nothing_agree_on_a_row(row: tuple[int, tuple[Ends, ...]]) -> None:
    assert most_meals(*row) == by_forks(*row) <= _bounded_row(*row)


@pytest.mark.slow
@pytest.mark.parametrize("length", [9, 10])
def test_two_programmes_agree_on_long_rows(length: int) -> None:
    for out in (set(), {3, 4, 5, 17, 18}, set(range(0, 30, 4))):
        ends = tuple((number in out, (number + 2) % 30 in out) for number in range(30))
        assert most_meals(length, ends) == by_forks(length, ends)


FREE_ROWS = {10: (22, 58, 98), 11: (24, 64, 108), 12: (26, 69, 117), 13: (28, 75, 127), 14: (30, 80, 136)}
"""The most meals of rows in 12, 30 and 50 rounds, by the other programme (it takes minutes at 14 seats)."""


@pytest.mark.parametrize("length", FREE_ROWS)
def test_rows_too_long_for_the_other_programme_come_to_what_it_once_proved(length: int) -> None:
    found = tuple(most_meals(length, ((False, False),) * rounds) for rounds in (12, 30, 50))
    assert found == FREE_ROWS[length]
    assert found[2] <= best_meals(length + 1, 50).meals


@pytest.mark.slow
def test_a_row_longer_than_is_solved_is_bounded_and_says_so() -> None:
    solved, bounded = (
        survivors_best(Rules(n=n, rounds=5, faults="3:silent")) for n in (MOST_SEATS + 1, MOST_SEATS + 2)
    )
    assert solved.exact
    assert not bounded.exact
    assert bounded.meals >= solved.meals


@pytest.mark.parametrize("n", [4, 5, 6])
def test_a_hog_that_never_begins_hinders_nobody(n: int) -> None:
    assert _beside_a_hog(n, 30, 31) == most_meals(n - 1, ((False, False),) * 30)
