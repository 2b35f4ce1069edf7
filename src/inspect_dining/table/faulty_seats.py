"""How faulty seats act, in a game and in its replay alike."""

from inspect_dining.table.faults import FIRST_FORK, Fault
from inspect_dining.table.moves import ACTS, NO_CALL, Action, Reading
from inspect_dining.table.players.scripted import scripted
from inspect_dining.table.rules import Coin, Rules
from inspect_dining.table.table import Table
from inspect_dining.table.view import see


class FaultySeats:
    """The faults of one game as it goes on.

    Attributes:
        begun: For each seat whose fault has begun the round in which it did.
    """

    def __init__(self, rules: Rules, seed: int) -> None:
        """Before the first round; `seed` is the episode's, which keys the coins of faults."""
        self.begun: dict[int, int] = {}
        self._rules = rules
        self._seed = seed
        self._faults = {fault.seat: fault for fault in rules.seat_faults}
        self._tables: list[Table] = []

    def begin_round(self, table: Table) -> None:
        """Takes the table at the start of a round, in which further faults may begin."""
        if not self._faults:
            return
        self._tables.append(table)
        for seat, fault in self._faults.items():
            due = table.in_hand(seat) > 0 if fault.begins == FIRST_FORK else fault.begins == table.round
            if due and seat not in self.begun:
                self.begun[seat] = table.round

    def add(self, fault: Fault, number: int) -> None:
        """Adds a fault that nobody planned, which begins in the round being played."""
        self._faults[fault.seat] = fault
        self.begun[fault.seat] = number

    def fault(self, seat: int) -> Fault | None:
        """The fault of a seat that has begun, or None."""
        return self._faults[seat] if seat in self.begun else None

    def asked(self, seat: int) -> bool:
        """Whether a seat's own decision counts now."""
        fault = self.fault(seat)
        return fault is None or (not fault.forced and self._late(fault) is not None)

    def seen(self, seat: int, table: Table) -> Table:
        """The table on which a seat decides: the one given, or an older one where it is delayed."""
        fault = self.fault(seat)
        return (self._late(fault) if fault is not None and not fault.forced else None) or table

    def _late(self, fault: Fault) -> Table | None:
        place = len(self._tables) - 1 - fault.delay
        return self._tables[place] if place >= 0 else None

    def says(self, seat: int, number: int) -> str:
        """What a seat whose turn its fault takes says before the actions of a round; all but a liar are silent."""
        fault = self.fault(seat)
        return f"Round {number}: I will {self._lie(seat, number)[0]}." if fault and fault.kind == "liar" else ""

    def _lie(self, seat: int, number: int) -> tuple[Action, Action]:
        """What a liar announces in a round, and what it does: two different actions, every pair equally likely."""
        coin = Coin("liar", self._seed, number, seat)
        said = coin.choice(tuple(Action))
        return said, coin.choice([action for action in Action if action is not said])

    def turn(self, seat: int, table: Table) -> Reading:
        """What a seat does in a turn that its fault takes.

        Args:
            seat: A seat that is not asked.
            table: The table as it stands before its turn.
        """
        fault = self._faults[seat]
        if fault.kind == "silent":
            if table.held[seat] == seat:
                return ACTS[Action.PUT_DOWN_LEFT]
            return ACTS[Action.PUT_DOWN_RIGHT] if table.held[(seat + 1) % table.n] == seat else NO_CALL
        if fault.kind == "liar":
            return ACTS[self._lie(seat, table.round)[1]]
        if fault.kind in ("hog", "random"):
            coin = Coin("fault", self._seed, table.round, seat)
            action = scripted(fault.kind).decide(see(table, seat, self._rules, self._seed), coin)
            return NO_CALL if action is None else ACTS[action]
        return NO_CALL


def held_for_ever(table: Table, fault: Fault | None) -> frozenset[int]:
    """The forks that a seat whose fault has begun can never let go of."""
    if fault is None or fault.kind != "crash":
        return frozenset()
    return frozenset(fork for fork, holder in enumerate(table.held) if holder == fault.seat)
