"""One round of a game that was played again: the tables before and after it, and every turn."""

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
        turns: For each seat its turn.
        after: The table after it, at the start of the next round.
        seen: For each seat the table on which it decided (in simultaneous order all are `before`, apart from that of
            a delayed seat).
        faulty: The seats whose fault has begun.
        forced: Those of them whose turn the fault took.
        exchanges: With talk, what was said before the actions: the exchanges, each with one message a seat.
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
        """Whether every seat ended the round with exactly one fork, also where patience lets the game go on."""
        return self.after.locked > 0


def ate(turn: Turn) -> bool:
    """Whether a turn was a meal."""
    return turn.reading.action is Action.EAT and turn.outcome is Outcome.DONE
