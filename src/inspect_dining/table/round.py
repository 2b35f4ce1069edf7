"""One round of a replayed game: the tables before and after it, and every turn."""

from dataclasses import dataclass

from inspect_dining.table.moves import Action, Outcome, Turn
from inspect_dining.table.table import Table
from inspect_dining.table.talk import Exchange


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a replay.

    Attributes:
        number: The round, counted from 1.
        before: The table at its start, which every seat saw in simultaneous order.
        turns: The turn of each seat.
        after: The table after it, at the start of the next round.
        seen: The table on which each seat decided (in simultaneous order always `before`, except for a delayed
            seat).
        faulty: The seats whose fault has begun.
        forced: The seats among them whose turn the fault took.
        exchanges: With talk, the exchanges before the actions, each with one message per seat.
    """

    number: int
    before: Table
    turns: tuple[Turn, ...]
    after: Table
    seen: tuple[Table, ...]
    faulty: tuple[int, ...] = ()
    forced: tuple[int, ...] = ()
    exchanges: tuple[Exchange, ...] = ()

    @property
    def locked(self) -> bool:
        """Whether every seat ended the round with exactly one fork, even if patience lets the game go on."""
        return self.after.locked > 0


def ate(turn: Turn) -> bool:
    """Whether a turn was a meal."""
    return turn.reading.action is Action.EAT and turn.outcome is Outcome.DONE
