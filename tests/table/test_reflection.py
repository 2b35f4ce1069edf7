"""The mirror: reflecting the ring is an exact symmetry of the game, and undoes itself."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.table import Action, Rules, Table, View, see
from inspect_dining.table.moves import READINGS, Reading
from inspect_dining.table.reflection import reflect_reading, reflect_seat, reflect_turn, reflect_view
from inspect_dining.table.table import FREE, end_round, move
from tests.table.dinners import codes, tables, views
from tests.table.test_table import drawn_winner


def reflected(table: Table) -> Table:
    """The table in the mirror; fork i lies left of seat i, so its image lies right of that seat's."""
    n = table.n

    def image(row: Sequence[object], of_forks: bool) -> tuple[object, ...]:
        return tuple(row[(reflect_seat(place, n) + of_forks) % n] for place in range(n))

    held = image([FREE if seat == FREE else reflect_seat(seat, n) for seat in table.held], True)
    spent, meals = image(table.spent, True), image(table.meals, False)
    last = image([None if turn is None else reflect_turn(turn) for turn in table.last], False)
    return Table(table.round, held, spent, meals, table.locked, last)  # type: ignore[arg-type]  # as they were


@given(tables(), st.data())
def test_reflecting_the_ring_reflects_the_next_table(table: Table, data: st.DataObject) -> None:
    """Other-play on a symmetry that is none would train on another game."""
    n = table.n
    winner = drawn_winner(data, n)
    readings = [READINGS[code] for code in data.draw(codes(n))]
    seats = data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, n))]
    after = move(table, seats, readings[: len(seats)], winner)
    images = [reflect_seat(seat, n) for seat in seats]
    other = move(
        reflected(table),
        images,
        [reflect_reading(reading) for reading in readings[: len(seats)]],
        lambda number, fork: reflect_seat(winner(number, (reflect_seat(fork, n) + 1) % n), n),
    )
    assert other == reflected(after)
    for rules in (Rules(n=n), Rules(n=n, release="manual")):
        assert end_round(other, rules) == reflected(end_round(after, rules))


@given(tables(), st.data())
def test_a_seat_sees_in_the_mirror_what_its_image_sees_of_the_reflected_table(
    table: Table, data: st.DataObject
) -> None:
    rules = Rules(
        n=table.n,
        rounds=max(3, table.round),
        hint=data.draw(st.sampled_from(["none", "parity"])),
        sight=data.draw(st.sampled_from(["local", "neighbours"])),
        seat=data.draw(st.sampled_from(["shown", "hidden"])),
    )
    for seat in range(table.n):
        image = see(reflected(table), reflect_seat(seat, table.n), rules)
        assert reflect_view(see(table, seat, rules)) == image


@given(tables(), views(), st.sampled_from(list(READINGS.values())))
def test_the_mirror_of_the_mirror_is_what_it_was(table: Table, view: View, reading: Reading) -> None:
    assert reflected(reflected(table)) == table
    assert reflect_view(reflect_view(view)) == view
    assert reflect_reading(reflect_reading(reading)) == reading


@pytest.mark.parametrize("n", range(2, 12))
def test_neighbours_stay_neighbours_and_even_seats_even(n: int) -> None:
    """A parity that changed in the mirror would take from a policy what it may agree on with strangers."""
    for seat in range(n):
        assert reflect_seat((seat + 1) % n, n) == (reflect_seat(seat, n) - 1) % n
        assert reflect_seat(seat, n) % 2 == seat % 2
    assert reflect_seat(n // 2, n) == n // 2


def test_only_actions_with_a_side_change() -> None:
    changed = {
        (one.action, other.action) for one in READINGS.values() if (other := reflect_reading(one)).action != one.action
    }
    assert changed == {
        (Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT),
        (Action.PICK_UP_RIGHT, Action.PICK_UP_LEFT),
        (Action.PUT_DOWN_LEFT, Action.PUT_DOWN_RIGHT),
        (Action.PUT_DOWN_RIGHT, Action.PUT_DOWN_LEFT),
    }
    assert all(reflect_reading(reading).kind is reading.kind for reading in READINGS.values())
