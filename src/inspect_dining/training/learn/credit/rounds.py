"""Many rounds of the game at once: `table.move` and `table.end_round` vectorised over arrays, for credit and critic.

The state of a fork is its holder: nobody, the seat whose left fork it is, or the seat whose right fork it is. So it
does not depend on seat numbers, and tables of the same n share one array. An action is its index in `Action`; a turn
that does not act is `IDLE`, like `think`: neither changes the table.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from inspect_dining.table.moves import READINGS, Action
from inspect_dining.table.record import Record
from inspect_dining.table.rules import Rules, tie_winner

Ints = NDArray[np.int16]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

FREE, LEFT, RIGHT = 0, 1, 2
"""The states of a fork: on the table, held as a left fork, or held as a right fork."""
ACTIONS = tuple(Action)
UP_LEFT, UP_RIGHT, DOWN_LEFT, DOWN_RIGHT, EAT, IDLE = range(len(ACTIONS))
ACTION_OF_CODE = {code: IDLE if r.action is None else ACTIONS.index(r.action) for code, r in READINGS.items()}
"""The number of the action behind each code of a record."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables of one n.

    Attributes:
        held: The holder of each fork (`FREE`, `LEFT`, `RIGHT`): tables x n.
        spent: Whether each fork has fed its holder since it was picked up: tables x n.
        meals: Each seat's meals so far: tables x n.
        locked: The number of consecutive rounds that ended with every seat holding exactly one fork: tables.
        round: The round to be played next, counted from 1: tables.
    """

    held: Ints
    spent: Bools
    meals: Ints
    locked: Ints
    round: Ints

    @staticmethod
    def empty(count: int, n: int) -> "Tables":
        """The given number of empty tables of n seats before round 1."""
        zeros = np.zeros((count, n), np.int16)
        return Tables(zeros, zeros > 0, zeros, np.zeros(count, np.int16), np.ones(count, np.int16))

    @staticmethod
    def join(parts: Sequence["Tables"]) -> "Tables":
        """All tables of several parts, concatenated."""
        return Tables(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Tables)))

    def take(self, which: NDArray[np.intp] | Bools) -> "Tables":
        """Some of the tables, by number or by mask."""
        return Tables(self.held[which], self.spent[which], self.meals[which], self.locked[which], self.round[which])

    def __len__(self) -> int:
        """The number of tables."""
        return len(self.round)


def possible(tables: Tables) -> Bools:
    """Which actions would change something: tables x n x 6. A fork picked up may still be lost to a tie."""
    left, right = tables.held, np.roll(tables.held, -1, 1)
    has_left, has_right = left == LEFT, right == RIGHT
    unspent = ~tables.spent & ~np.roll(tables.spent, -1, 1)
    idle = np.zeros_like(has_left)
    return np.stack([left == FREE, right == FREE, has_left, has_right, has_left & has_right & unspent, idle], axis=-1)


def move(tables: Tables, actions: Ints, owner_wins: Bools) -> Tables:
    """All seats of each table move at once, on the same state.

    Args:
        tables: The tables.
        actions: Each seat's action: tables x n. In sequential order all seats but one are `IDLE`.
        owner_wins: For each fork whether a tie goes to the seat whose left fork it is: tables x n.

    Returns:
        The tables after the move, in the same round.
    """
    works = np.take_along_axis(possible(tables), actions[..., None].astype(np.intp), 2)[..., 0]
    left_up, right_up = works & (actions == UP_LEFT), np.roll(works & (actions == UP_RIGHT), 1, 1)
    as_left = left_up & (owner_wins | ~right_up)
    as_right = right_up & ~as_left
    down = works & (actions == DOWN_LEFT) | np.roll(works & (actions == DOWN_RIGHT), 1, 1)
    eats = works & (actions == EAT)
    held = np.where(as_left, LEFT, np.where(as_right, RIGHT, np.where(down, FREE, tables.held))).astype(np.int16)
    spent = (tables.spent | eats | np.roll(eats, 1, 1)) & ~down
    return Tables(held, spent, (tables.meals + eats).astype(np.int16), tables.locked, tables.round)


def end_round(tables: Tables, rules: Rules) -> Tables:
    """Closes the round of each table: forks that fed someone return (automatic release), locked rounds are counted.

    Args:
        tables: The tables after the round's last move.
        rules: Their rules; n and T may differ.

    Returns:
        The tables at the start of the next round.
    """
    held, spent = tables.held, tables.spent
    if rules.release == "auto":
        held, spent = np.where(spent, np.int16(FREE), held), np.zeros_like(spent)
    both = (held == LEFT) & (np.roll(held, -1, 1) == RIGHT)
    lock = (held != FREE).all(1) & ~both.any(1)
    locked = np.where(lock, tables.locked + 1, 0).astype(np.int16)
    return Tables(held, spent, tables.meals, locked, (tables.round + 1).astype(np.int16))


@dataclass(frozen=True, slots=True)
class ReplayedRounds:
    """Every round of some games with the same n and rules except T; R rounds in all.

    Attributes:
        records: The games.
        game: The game that each round belongs to, as an index into `records`: R.
        before: The tables at the start of each round.
        actions: Each seat's action: R x n.
        owner_wins: The winner of a tie for each fork: R x n (see `move`).
        after: The tables at the start of the next round.
        ends: Whether the round was its game's last: R.
        horizon: The game's T: R.
    """

    records: tuple[Record, ...]
    game: NDArray[np.intp]
    before: Tables
    actions: Ints
    owner_wins: Bools
    after: Tables
    ends: Bools
    horizon: Ints

    @property
    def rules(self) -> Rules:
        """The rules of the games; their T is that of the first."""
        return self.records[0].rules

    def by_game(self, values: Floats) -> list[Floats]:
        """Values of rounds, split by game, each in the order of play."""
        order = np.lexsort((self.before.round, self.game))
        starts = np.searchsorted(self.game[order], np.arange(len(self.records)))
        return np.split(values[order], starts[1:])


def play_again(records: Sequence[Record]) -> ReplayedRounds:
    """Replays records, all at once.

    Args:
        records: Games of one n and one set of rules; T may differ.

    Returns:
        Their rounds.
    """
    rules = records[0].rules
    if any(r.rules.n != rules.n or _but_horizon(r.rules) != _but_horizon(rules) for r in records):
        raise ValueError("Games that differ in n or in their rules must be replayed separately.")
    length = np.array([len(record.rounds) for record in records])
    horizon = np.array([record.rules.rounds for record in records], np.int16)
    winners = _winners()
    live = np.flatnonzero(length)
    now = Tables.empty(len(live), rules.n)
    parts: list[tuple[NDArray[np.intp], Tables, Ints, Bools, Tables]] = []
    number = 0
    while len(live):
        codes = [records[g].rounds[number] for g in live.tolist()]
        actions = np.array([[ACTION_OF_CODE[code] for code in line] for line in codes], np.int16)
        owner_wins = np.stack([winners(records[g], number + 1) for g in live.tolist()])
        after = end_round(_round(now, actions, owner_wins, rules), rules)
        parts.append((live, now, actions, owner_wins, after))
        number += 1
        goes_on = length[live] > number
        live, now = live[goes_on], after.take(goes_on)
    games = np.concatenate([part[0] for part in parts])
    before, after = Tables.join([part[1] for part in parts]), Tables.join([part[4] for part in parts])
    actions, owner_wins = np.concatenate([part[2] for part in parts]), np.concatenate([part[3] for part in parts])
    ends = before.round == length[games]
    return ReplayedRounds(tuple(records), games, before, actions, owner_wins, after, ends, horizon[games])


def _round(tables: Tables, actions: Ints, owner_wins: Bools, rules: Rules) -> Tables:
    """The moves of one round, in the order of the rules."""
    if rules.order == "simultaneous":
        return move(tables, actions, owner_wins)
    for seat in range(rules.n):
        alone = np.full_like(actions, IDLE)
        alone[:, seat] = actions[:, seat]
        tables = move(tables, alone, owner_wins)
    return tables


def _but_horizon(rules: Rules) -> dict[str, str | int]:
    return {name: value for name, value in rules.options().items() if name != "rounds"}


def _winners() -> Callable[[Record, int], Bools]:
    """The winners of ties in a round of a game; the games of a group share them."""
    kept: dict[tuple[int, int], Bools] = {}

    def winners(record: Record, number: int) -> Bools:
        key = (record.seed, number)
        if key not in kept:
            forks = range(record.rules.n)
            kept[key] = np.array([tie_winner(record.rules, record.seed, number, fork) == fork for fork in forks])
        return kept[key]

    return winners
