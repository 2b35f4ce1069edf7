"""The behaviour of faulty seats, in a game and in its replay."""

from inspect_dining.table.faults import FIRST_FORK, Fault
from inspect_dining.table.moves import ACTS, NO_CALL, Action, Reading
from inspect_dining.table.players.scripted import scripted
from inspect_dining.table.rules import Coin, Rules
from inspect_dining.table.table import Table
from inspect_dining.table.view import see


class FaultySeats:
    """The faults of one game in progress.

    Attributes:
        begun: The round in which the fault of each faulty seat began, by seat; faults yet to begin are missing.
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
        """Adds an unplanned fault, which begins in the round being played."""
        self._faults[fault.seat] = fault
        self.begun[fault.seat] = number

    def fault(self, seat: int) -> Fault | None:
        """The fault of a seat if it has begun, else None."""
        return self._faults[seat] if seat in self.begun else None

    def asked(self, seat: int) -> bool:
        """Whether a seat's own decision counts now."""
        fault = self.fault(seat)
        return fault is None or (not fault.forced and self._late(fault) is not None)

    def seen(self, seat: int, table: Table) -> Table:
        """The table on which a seat decides: the current one, or an older one if it is delayed."""
        fault = self.fault(seat)
        return (self._late(fault) if fault is not None and not fault.forced else None) or table

    def _late(self, fault: Fault) -> Table | None:
        place = len(self._tables) - 1 - fault.delay
        return self._tables[place] if place >= 0 else None

    def says(self, seat: int, number: int) -> str:
        """The message in a round of a seat whose turns are taken by its fault; only a liar speaks."""
        fault = self.fault(seat)
        return f"Round {number}: I will {self._lie(seat, number)[0]}." if fault and fault.kind == "liar" else ""

    def _lie(self, seat: int, number: int) -> tuple[Action, Action]:
        """A liar's announcement and action in a round: two different actions, every pair equally likely."""
        coin = Coin("liar", self._seed, number, seat)
        said = coin.choice(tuple(Action))
        return said, coin.choice([action for action in Action if action is not said])

    def turn(self, seat: int, table: Table) -> Reading:
        """The reading of a turn that a seat's fault takes.

        Args:
            seat: A seat that does not decide for itself.
            table: The table before its turn.
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
    """The forks that a seat whose fault has begun can never release."""
    if fault is None or fault.kind != "crash":
        return frozenset()
    return frozenset(fork for fork, holder in enumerate(table.held) if holder == fault.seat)
