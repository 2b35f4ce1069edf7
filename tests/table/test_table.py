"""The table: what a turn does to forks and meals, and what it must never do."""

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.table import Action, Fork, Outcome, Record, Rules, Table, Why, replay, see
from inspect_dining.table.moves import READINGS
from inspect_dining.table.table import FREE, end_round, move
from tests.table.dinners import codes, dinner, records, tables

N3 = Rules(n=3, rounds=9)
N3_TURNS = Rules(n=3, rounds=9, order="sequential")
N3_MANUAL = Rules(n=3, rounds=20, release="manual")


def turned(table: Table, by: int) -> Table:
    """The table with every seat and fork moved on by so many places round the ring."""
    n = table.n

    def shift(row: Sequence[object]) -> tuple[object, ...]:
        return tuple(row[(place - by) % n] for place in range(n))

    held = tuple(FREE if seat == FREE else (seat + by) % n for seat in table.held)
    moved = map(shift, (held, table.spent, table.meals, table.last))
    held, spent, meals, last = moved  # type: ignore[assignment]
    return Table(table.round, held, spent, meals, table.locked, last)  # type: ignore[arg-type]


def drawn_winner(data: st.DataObject, n: int) -> Callable[[int, int], int]:
    """A winner for every fork, drawn once."""
    owners = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return lambda number, fork: fork if owners[fork] else (fork - 1) % n


@given(tables(), st.data())
def test_turning_the_ring_turns_the_next_table(table: Table, data: st.DataObject) -> None:
    """A seat number that leaks into a rule gives some seat an advantage that no fairness score can see."""
    n = table.n
    winner, by = drawn_winner(data, n), data.draw(st.integers(1, n - 1))
    readings = [READINGS[code] for code in data.draw(codes(n))]
    seats = data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, n))]
    after = move(table, seats, readings[: len(seats)], winner)
    other = move(
        turned(table, by),
        [(seat + by) % n for seat in seats],
        readings[: len(seats)],
        lambda number, fork: (winner(number, (fork - by) % n) + by) % n,
    )
    assert other == turned(after, by)
    for rules in (Rules(n=n), Rules(n=n, release="manual")):
        assert end_round(other, rules) == turned(end_round(after, rules), by)


@given(tables(), st.data())
def test_the_order_in_which_decisions_arrive_changes_nothing(table: Table, data: st.DataObject) -> None:
    """A fork given to whoever is evaluated first lets arrival order decide a simultaneous round."""
    winner = drawn_winner(data, table.n)
    readings = [READINGS[code] for code in data.draw(codes(table.n))]
    order = data.draw(st.permutations(range(table.n)))
    shuffled = move(table, order, [readings[seat] for seat in order], winner)
    assert shuffled == move(table, range(table.n), readings, winner)


@given(records())
def test_forks_and_meals_are_conserved(record: Record) -> None:
    """A fork that is lost, doubled or held from across the table, or a meal out of nothing, voids every score."""
    n = record.rules.n
    for round in replay(record):
        before, after = round.before, round.after
        for fork, holder in enumerate(after.held):
            assert holder in (FREE, fork, (fork - 1) % n)
            assert not (after.spent[fork] and holder == FREE)
        for seat, turn in enumerate(round.turns):
            ate = turn.reading.action is Action.EAT and turn.outcome is Outcome.DONE
            assert after.meals[seat] == before.meals[seat] + ate
            if turn.outcome is not Outcome.DONE and record.rules.order == "simultaneous":
                mine = [held == seat for held in before.held]
                assert [held == seat for held in after.held] == mine
        if record.rules.release == "auto":
            assert not any(after.spent)


@given(records())
def test_a_simultaneous_round_never_passes_a_fork_from_hand_to_hand(record: Record) -> None:
    """What was held when the round began could not be seen free, so nobody may take it in that round."""
    if record.rules.order == "simultaneous":
        for round in replay(record):
            for was, now in zip(round.before.held, round.after.held, strict=True):
                assert was == FREE or now in (FREE, was)


def test_simultaneous_a_fork_put_down_is_free_only_in_the_next_round() -> None:
    """Seat 2 reaches for fork 0 while seat 0 puts it down."""
    _, second, third = dinner(N3, "aff", "cfb", "ffb")
    assert (second.turns[2].outcome, second.turns[2].why) == (Outcome.NO_EFFECT, Why.TAKEN)
    assert second.after.held == (FREE, FREE, FREE)
    assert third.after.held == (2, FREE, FREE)


def test_sequential_a_fork_put_down_is_free_for_the_next_seat_at_once() -> None:
    """Seat 2 moves after seat 0 and gets fork 0; seat 0 moves before seat 1 and does not get fork 1."""
    assert dinner(N3_TURNS, "aff", "cfb")[-1].after.held == (2, FREE, FREE)
    last = dinner(N3_TURNS, "faf", "bcf")[-1]
    assert last.turns[0].why is Why.TAKEN
    assert last.after.held == (FREE, FREE, FREE)


def test_automatic_release_returns_both_forks_at_the_end_of_the_round_in_both_orders() -> None:
    """Forks that came back at once would let the next seat of a sequential round start its meal early."""
    for rules in (N3, N3_TURNS):
        meal, after = dinner(rules, "aff", "bff", "eab", "fab")[2:]
        assert meal.turns[0].outcome is Outcome.DONE
        assert [turn.why for turn in meal.turns[1:]] == [Why.TAKEN, Why.TAKEN]
        assert meal.after.held == (FREE, FREE, FREE)
        assert meal.after.meals == (1, 0, 0)
        assert after.after.held == (2, 1, FREE)


def test_manual_release_feeds_again_only_after_both_forks_were_put_down() -> None:
    """Two seats that never let go would feast while the rest starve."""
    rounds = dinner(N3_MANUAL, *(f"{code}ff" for code in "abeecaedbee"))
    eats = [(round.number, round.turns[0].why) for round in rounds if round.turns[0].reading.action is Action.EAT]
    assert eats == [(3, None), (4, Why.SPENT), (7, Why.SPENT), (10, None), (11, Why.SPENT)]
    assert rounds[-1].after.meals == (2, 0, 0)


def test_manual_release_shows_which_forks_have_fed_the_seat() -> None:
    """A seat that cannot see why it may not eat cannot learn to put its forks down."""
    rounds = dinner(N3_MANUAL, *(f"{code}ff" for code in "abeca"))
    seen = [(see(round.after, 0, N3_MANUAL).left, see(round.after, 0, N3_MANUAL).right) for round in rounds[1:]]
    assert seen == [
        (Fork.MINE, Fork.MINE),
        (Fork.SPENT, Fork.SPENT),
        (Fork.FREE, Fork.SPENT),
        (Fork.MINE, Fork.SPENT),
    ]
    assert see(rounds[-1].after, 1, N3_MANUAL).left is Fork.TAKEN


def test_what_the_rules_do_not_allow_changes_nothing_and_says_why() -> None:
    """An illegal move that moves something, or a reason that is another's, teaches the model a wrong game."""
    first, second = dinner(N3, "ace", "aba")
    assert [turn.why for turn in first.turns] == [None, Why.NOT_IN_HAND, Why.NEEDS_BOTH]
    assert [turn.why for turn in second.turns] == [Why.IN_HAND, None, None]
    last = dinner(N3, "aff", "ffb")[-1]
    assert last.turns[2].why is Why.TAKEN
    assert last.after.held == (0, FREE, FREE)


def test_both_forks_can_be_contested_at_a_table_of_two() -> None:
    """At n = 2 both neighbours are one seat, and fork 1 is right of seat 0 and left of seat 1."""
    rules = Rules(n=2, rounds=9, ties="lowest")
    (first,) = dinner(rules, "ab")
    assert (first.after.held, first.turns[1].outcome) == ((0, FREE), Outcome.LOST_TIE)
    assert dinner(rules, "ab", "ba", "ef")[-1].after.meals == (1, 0)
    assert dinner(rules, "aa")[-1].locked


def test_a_table_is_locked_only_when_every_seat_holds_exactly_one_fork() -> None:
    """All forks taken is no lock when one seat has two of them."""
    assert dinner(N3, "aaa")[-1].locked
    assert dinner(N3, "bbb")[-1].locked
    assert not dinner(N3, "aaf")[-1].locked
    last = dinner(N3, "aff", "bbf")[-1]
    assert FREE not in last.after.held
    assert not last.locked


def test_the_hash_tells_any_two_states_apart() -> None:
    """A hash that misses a field proves nothing about it."""
    table = Table.empty(3)
    a_turn = dinner(N3, "fff")[-1].turns[0]
    others = [
        Table(2, table.held, table.spent, table.meals, 0, table.last),
        Table(1, (0, FREE, FREE), table.spent, table.meals, 0, table.last),
        Table(1, (0, FREE, FREE), (True, False, False), table.meals, 0, table.last),
        Table(1, table.held, table.spent, (1, 0, 0), 0, table.last),
        Table(1, table.held, table.spent, table.meals, 1, table.last),
    ]
    assert len({table.hash, *(other.hash for other in others)}) == 6
    assert Table(1, table.held, table.spent, table.meals, 0, (a_turn,) * 3).hash == table.hash


def test_a_lost_turn_moves_nothing() -> None:
    """A reply that was no action must never act."""
    table = dinner(N3, "aff")[-1].after
    for code in "012345":
        after = move(table, range(3), [READINGS[code]] * 3, lambda number, fork: fork)
        assert (after.held, after.meals) == (table.held, table.meals)
        assert {turn.outcome for turn in after.last if turn is not None} == {Outcome.LOST}
