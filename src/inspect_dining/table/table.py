"""The table: who holds which fork, and how a turn changes it.

`move` gives the turns of some seats, all decided on the same table; `end_round` closes a round. A simultaneous round is
one `move` of all seats; a sequential round is n moves of one seat each. Both functions are pure.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from inspect_dining.table.moves import (
    DONE_TURNS,
    LOST_TURNS,
    TIE_TURNS,
    VAIN_TURNS,
    Action,
    Reading,
    Turn,
    Why,
)
from inspect_dining.table.rules import Rules

FREE = -1
"""The holder of a fork that lies on the table."""

_LEFT_UP, _RIGHT_UP, _LEFT_DOWN = Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT, Action.PUT_DOWN_LEFT
_RIGHT_DOWN, _EAT = Action.PUT_DOWN_RIGHT, Action.EAT
_TAKEN, _IN_HAND, _NOT_IN_HAND = VAIN_TURNS[Why.TAKEN], VAIN_TURNS[Why.IN_HAND], VAIN_TURNS[Why.NOT_IN_HAND]
_NEEDS_BOTH, _SPENT = VAIN_TURNS[Why.NEEDS_BOTH], VAIN_TURNS[Why.SPENT]


@dataclass(frozen=True, slots=True)
class Table:
    """The whole state of a game. Fork i lies left of seat i and right of seat i - 1.

    Attributes:
        round: The round being played, counted from 1.
        held: For each of the n forks, the seat that holds it, or `FREE`.
        spent: For each fork, whether it has fed its holder since it was picked up.
        meals: For each seat, its meals so far.
        locked: The number of consecutive rounds, up to the last finished one, that every seat ended with exactly one
            fork.
        last: For each seat, its latest turn, or None before its first.
    """

    round: int
    held: tuple[int, ...]
    spent: tuple[bool, ...]
    meals: tuple[int, ...]
    locked: int
    last: tuple[Turn | None, ...]

    @staticmethod
    def empty(n: int) -> "Table":
        """The table of n seats before round 1."""
        return Table(1, (FREE,) * n, (False,) * n, (0,) * n, 0, (None,) * n)

    @property
    def n(self) -> int:
        """The number of seats."""
        return len(self.held)

    @property
    def hash(self) -> str:
        """16 hex digits that name this state (round, forks, meals, locked rounds), to tell two tables apart."""
        state = f"{self.round}{self.held}{self.spent}{self.meals}{self.locked}"
        return blake2b(state.encode(), digest_size=8).hexdigest()

    def in_hand(self, seat: int) -> int:
        """How many forks a seat holds: 0, 1 or 2."""
        return self.held.count(seat)


def move(table: Table, seats: Sequence[int], readings: Sequence[Reading], winner: Callable[[int, int], int]) -> Table:
    """Gives some seats their turn, all on the same table.

    A fork held now cannot be picked up in this move, even if its holder puts it down during the move.

    Args:
        table: The table that all of these seats see.
        seats: The seats that move.
        readings: Their decisions, in the same order.
        winner: Takes the round and a contested fork and returns the seat that gets it.

    Returns:
        The table after the move, in the same round.
    """
    held = table.held
    spent, meals = table.spent, table.meals
    now, last = list(held), list(table.last)
    claims: dict[int, int] = {}
    at_right = len(held) - 1
    for seat, reading in zip(seats, readings, strict=True):
        action = reading.action
        if action is None:
            last[seat] = LOST_TURNS[reading]
        elif action is _LEFT_UP or action is _RIGHT_UP:
            fork = seat if action is _LEFT_UP else seat + 1 if seat < at_right else 0
            if held[fork] == FREE:
                if fork not in claims:
                    claims[fork] = seat
                    last[seat] = DONE_TURNS[reading]
                elif winner(table.round, fork) == seat:
                    beaten = claims[fork]
                    claims[fork] = seat
                    last[seat] = DONE_TURNS[reading]
                    last[beaten] = TIE_TURNS[readings[seats.index(beaten)]]
                else:
                    last[seat] = TIE_TURNS[reading]
            else:
                last[seat] = (_IN_HAND if held[fork] == seat else _TAKEN)[reading]
        elif action is _EAT:
            right = seat + 1 if seat < at_right else 0
            if held[seat] != seat or held[right] != seat:
                last[seat] = _NEEDS_BOTH[reading]
            elif spent[seat] or spent[right]:
                last[seat] = _SPENT[reading]
            else:
                meals = (*meals[:seat], meals[seat] + 1, *meals[seat + 1 :])
                spent = tuple(s or f in (seat, right) for f, s in enumerate(spent))
                last[seat] = DONE_TURNS[reading]
        elif action is _LEFT_DOWN or action is _RIGHT_DOWN:
            fork = seat if action is _LEFT_DOWN else seat + 1 if seat < at_right else 0
            if held[fork] == seat:
                now[fork] = FREE
                spent = (*spent[:fork], False, *spent[fork + 1 :])
                last[seat] = DONE_TURNS[reading]
            else:
                last[seat] = _NOT_IN_HAND[reading]
        else:
            last[seat] = DONE_TURNS[reading]
    for fork, seat in claims.items():
        now[fork] = seat
    return Table(table.round, tuple(now), spent, meals, table.locked, tuple(last))


def end_round(table: Table, rules: Rules) -> Table:
    """Closes a round: forks that fed someone return (automatic release), and the locked rounds are counted.

    Args:
        table: The table after the last move of the round.
        rules: The rules of the game.

    Returns:
        The table at the start of the next round.
    """
    held, spent = table.held, table.spent
    if rules.release == "auto" and True in spent:
        held = tuple(FREE if used else seat for seat, used in zip(held, spent, strict=True))
        spent = (False,) * len(held)
    locked = table.locked + 1 if FREE not in held and len(set(held)) == len(held) else 0
    return Table(table.round + 1, held, spent, table.meals, locked, table.last)
