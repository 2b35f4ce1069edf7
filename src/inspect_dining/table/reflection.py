"""The ring in a mirror: left and right exchanged, and the seats counted the other way round.

In simultaneous order, with ties drawn by fair coins, this is an exact symmetry of the game. Reflect a table and what
every seat does, and the next table is the reflected one (ties reflected as well); what a seat sees of it is what the
reflected seat saw, in a mirror. Meals, deadlocks and every score that does not name a seat stay as they were.

A ring has n reflections. This one leaves seat n // 2 where it is, and so keeps every seat's number even or odd:

    seat i -> (2 (n // 2) - i) mod n,    fork i -> (2 (n // 2) + 1 - i) mod n
"""

from dataclasses import replace

from inspect_dining.table.moves import READINGS, Action, Reading, Turn
from inspect_dining.table.view import Hands, View

SIDES = {
    Action.PICK_UP_LEFT: Action.PICK_UP_RIGHT,
    Action.PICK_UP_RIGHT: Action.PICK_UP_LEFT,
    Action.PUT_DOWN_LEFT: Action.PUT_DOWN_RIGHT,
    Action.PUT_DOWN_RIGHT: Action.PUT_DOWN_LEFT,
}
"""The actions that have a side, each with that of the other side."""
_READINGS = {
    reading: next(r for r in READINGS.values() if r.kind is reading.kind and r.action is SIDES.get(action, action))
    for reading in READINGS.values()
    if (action := reading.action) is not None
}
_HANDS = {Hands.NONE: Hands.NONE, Hands.LEFT: Hands.RIGHT, Hands.RIGHT: Hands.LEFT, Hands.BOTH: Hands.BOTH}


def reflect_seat(seat: int, n: int) -> int:
    """The number of a seat in the mirror."""
    return (2 * (n // 2) - seat) % n


def reflect_reading(reading: Reading) -> Reading:
    """What a seat of the mirror does, as the seat itself does it; a lost turn stays as it is."""
    return _READINGS.get(reading, reading)


def reflect_turn(turn: Turn) -> Turn:
    """A turn with its side exchanged."""
    return replace(turn, reading=reflect_reading(turn.reading))


def reflect_view(view: View) -> View:
    """What a seat sees in the mirror; its number of the round (`hint="coin"`) stays."""
    at_left, at_right = view.neighbours or (None, None)
    talk = view.talk
    return replace(
        view,
        seat=None if view.seat is None else reflect_seat(view.seat, view.n),
        left=view.right,
        right=view.left,
        last=None if view.last is None else reflect_turn(view.last),
        neighbours=None if at_left is None or at_right is None else (_HANDS[at_right], _HANDS[at_left]),
        talk=None if talk is None else replace(talk, heard=(talk.heard[1], talk.heard[0])),
    )
