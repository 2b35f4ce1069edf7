"""The ring in a mirror: left and right exchanged, and the seats counted in reverse.

In simultaneous order, with ties drawn by fair coins, this is an exact symmetry of the game. Reflect a table and what
every seat does, and the next table is the reflected one (ties reflected as well); each seat's view of it is the
reflected seat's view, mirrored. Meals, deadlocks and every score that does not name a seat are unchanged.

A ring has n reflections. This one leaves seat n // 2 in place, and so preserves the parity of every seat's number:

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
"""The actions that have a side, each mapped to the same action on the other side."""
_READINGS = {
    reading: next(r for r in READINGS.values() if r.kind is reading.kind and r.action is SIDES.get(action, action))
    for reading in READINGS.values()
    if (action := reading.action) is not None
}
_HANDS = {Hands.NONE: Hands.NONE, Hands.LEFT: Hands.RIGHT, Hands.RIGHT: Hands.LEFT, Hands.BOTH: Hands.BOTH}


def reflect_seat(seat: int, n: int) -> int:
    """The number of a seat after reflection."""
    return (2 * (n // 2) - seat) % n


def reflect_reading(reading: Reading) -> Reading:
    """The reading of a reflected seat, for the seat itself; a lost turn is unchanged."""
    return _READINGS.get(reading, reading)


def reflect_turn(turn: Turn) -> Turn:
    """A turn with left and right exchanged."""
    return replace(turn, reading=reflect_reading(turn.reading))


def reflect_view(view: View) -> View:
    """A seat's view after reflection; its number for the round (`hint="coin"`) is unchanged."""
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
