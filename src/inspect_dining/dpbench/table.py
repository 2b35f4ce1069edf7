"""The table of DPBench: who holds which fork, and how the four actions change it. All functions are pure.

A philosopher who holds both forks after a step eats immediately, which is the meal; at its next update both forks
return, whatever it chose. In dpbench 0.2.1 the forks that a philosopher believes it holds can differ from the actual
ones for one step (docs/dpbench.md, "phantom fork"), so a table keeps both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b

FREE = -1
"""The holder of a fork that lies on the table."""
Winner = Callable[[int, Sequence[int]], int]
"""Takes a contested fork and the philosophers who reach for it, in ascending order, and returns the one who gets it."""


class Action(StrEnum):
    """One of the four things that a philosopher can do; the values are the words of dpbench's logs."""

    GRAB_LEFT = "grab_left"
    GRAB_RIGHT = "grab_right"
    RELEASE = "release"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Table:
    """The whole state of a DPBench game. Fork i lies left of philosopher i and right of philosopher i - 1.

    Attributes:
        timestep: Timesteps played.
        forks: For each fork, the philosopher who holds it, or `FREE`.
        left: For each philosopher, whether it counts its left fork as held.
        right: The same for its right fork.
        eating: For each philosopher, whether it is eating; else it is hungry.
        meals: For each philosopher, its meals.
    """

    timestep: int
    forks: tuple[int, ...]
    left: tuple[bool, ...]
    right: tuple[bool, ...]
    eating: tuple[bool, ...]
    meals: tuple[int, ...]

    @staticmethod
    def empty(n: int) -> "Table":
        """The table of n hungry philosophers before the first step."""
        return Table(0, (FREE,) * n, (False,) * n, (False,) * n, (False,) * n, (0,) * n)

    @property
    def n(self) -> int:
        """The number of philosophers."""
        return len(self.forks)

    @property
    def deadlocked(self) -> bool:
        """Whether all are hungry and each holds exactly one fork."""
        return not any(self.eating) and all(a != b for a, b in zip(self.left, self.right, strict=True))

    @property
    def phantoms(self) -> int:
        """The number of philosophers that count a fork as held that is not theirs; 0 in the corrected game."""
        n = self.n
        return sum(
            (self.left[seat] and self.forks[seat] != seat) or (self.right[seat] and self.forks[(seat + 1) % n] != seat)
            for seat in range(n)
        )

    @property
    def hash(self) -> str:
        """16 hex digits that name this state, to tell two tables apart."""
        state = f"{self.timestep}{self.forks}{self.left}{self.right}{self.eating}{self.meals}"
        return blake2b(state.encode(), digest_size=8).hexdigest()


def step(table: Table, actions: Sequence[Action], winner: Winner, exact: bool) -> Table:
    """One simultaneous step: releases, then grabs of what is free, then meals and the return of forks in seat order.

    Args:
        table: The table before the step.
        actions: One action for each philosopher.
        winner: Decides a contested fork.
        exact: Whether an eating philosopher that releases frees its forks before the grabs, as in dpbench 0.2.1; in
            the corrected game its forks return at the end of the step, like those of every eating philosopher.

    Returns:
        The table one timestep later.
    """
    n = table.n
    forks, left, right = list(table.forks), list(table.left), list(table.right)
    eating, meals = list(table.eating), list(table.meals)
    for seat, action in enumerate(actions):
        if action is Action.RELEASE and (exact or not eating[seat]):
            if left[seat]:
                forks[seat] = FREE
            if right[seat]:
                forks[(seat + 1) % n] = FREE
    reaching: dict[int, list[int]] = {}
    for seat, action in enumerate(actions):
        fork = _reached(seat, action, n)
        if fork is not None and forks[fork] == FREE:
            reaching.setdefault(fork, []).append(seat)
    for fork, seats in reaching.items():
        forks[fork] = seats[0] if len(seats) == 1 else winner(fork, seats)
    for seat in range(n):
        beyond = (seat + 1) % n
        if eating[seat]:
            forks[seat] = forks[beyond] = FREE
            eating[seat] = left[seat] = right[seat] = False
        else:
            left[seat], right[seat] = forks[seat] == seat, forks[beyond] == seat
            if left[seat] and right[seat]:
                eating[seat] = True
                meals[seat] += 1
    return Table(table.timestep + 1, tuple(forks), tuple(left), tuple(right), tuple(eating), tuple(meals))


def act(table: Table, seat: int, action: Action) -> Table:
    """One action of one philosopher, which is one timestep in sequential order."""
    beyond = (seat + 1) % table.n
    forks, left, right = list(table.forks), list(table.left), list(table.right)
    eating, meals = list(table.eating), list(table.meals)
    fork = _reached(seat, action, table.n)
    if eating[seat]:
        forks[seat] = forks[beyond] = FREE
        eating[seat] = left[seat] = right[seat] = False
    elif action is Action.RELEASE:
        if left[seat]:
            forks[seat] = FREE
        if right[seat]:
            forks[beyond] = FREE
        left[seat] = right[seat] = False
    elif fork is not None and forks[fork] == FREE:
        forks[fork] = seat
        (left if action is Action.GRAB_LEFT else right)[seat] = True
        if left[seat] and right[seat]:
            eating[seat] = True
            meals[seat] += 1
    return Table(table.timestep + 1, tuple(forks), tuple(left), tuple(right), tuple(eating), tuple(meals))


def clear(table: Table) -> Table:
    """The table after a deadlock that does not end the game: every fork is free."""
    nobody = (False,) * table.n
    return replace(table, forks=(FREE,) * table.n, left=nobody, right=nobody, eating=nobody)


def back_off(
    table: Table, held: Sequence[int], threshold: int, chance: Callable[[int], bool]
) -> tuple[Table, tuple[int, ...]]:
    """Makes philosophers that have held exactly one fork for too long let go of it.

    Args:
        table: The table after a step.
        held: For each philosopher, the number of preceding consecutive steps in which it held exactly one fork.
        threshold: The number from which on it may be made to let go.
        chance: Takes a philosopher that may let go, and returns whether it does.

    Returns:
        The table and the new counts.
    """
    forks, left, right, counts = list(table.forks), list(table.left), list(table.right), []
    for seat in range(table.n):
        count = held[seat] + 1 if left[seat] != right[seat] and not table.eating[seat] else 0
        if count and count >= threshold and chance(seat):
            forks[seat if left[seat] else (seat + 1) % table.n] = FREE
            left[seat] = right[seat] = False
            count = 0
        counts.append(count)
    return replace(table, forks=tuple(forks), left=tuple(left), right=tuple(right)), tuple(counts)


def _reached(seat: int, action: Action, n: int) -> int | None:
    """The fork that an action reaches for."""
    if action is Action.GRAB_LEFT:
        return seat
    return (seat + 1) % n if action is Action.GRAB_RIGHT else None
