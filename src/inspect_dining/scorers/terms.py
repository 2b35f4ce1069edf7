"""The terms of a score: the outcome of one finished episode, computed from its record alone."""

from collections import Counter
from dataclasses import dataclass

from inspect_dining.scorers.survivors import Survivors, survivors
from inspect_dining.table.moves import LOST, Action, Kind
from inspect_dining.table.optimum.ring import best_meals
from inspect_dining.table.record import Record, replay


@dataclass(frozen=True, slots=True)
class Terms:
    """The outcome of one finished episode.

    Attributes:
        n: Seats.
        rounds: The horizon T.
        played: Rounds played, at most `rounds`; a deadlock ends the game early.
        deadlocked: Whether the episode ended in deadlock.
        meals: Meals by seat.
        thinks: Turns that were `think`.
        lost: The number of lost turns of each kind; all six kinds are present.
        several: Turns in which there was more than one call (the first acted).
        forced: Turns that a fault took; they are not the players' turns, and none of the counts above includes them.
        survivors: The results of the seats without a fault, or None if the rules have no faults.
    """

    n: int
    rounds: int
    played: int
    deadlocked: bool
    meals: tuple[int, ...]
    thinks: int = 0
    lost: tuple[tuple[Kind, int], ...] = tuple((kind, 0) for kind in LOST)
    several: int = 0
    forced: int = 0
    survivors: Survivors | None = None

    @property
    def eaten(self) -> int:
        """Meals of the whole table."""
        return sum(self.meals)

    @property
    def no_deadlock(self) -> float:
        """1.0 if the episode did not deadlock, else 0.0."""
        return 0.0 if self.deadlocked else 1.0

    @property
    def throughput(self) -> float:
        """Meals per seat and round of the horizon, 0 to 1/3; T counts in full even if the episode ended early."""
        return self.eaten / (self.n * self.rounds)

    @property
    def meal_variance(self) -> float:
        """Population variance of meals over seats, at least 0 (the paper's fairness penalty)."""
        mean = self.eaten / self.n
        return sum((meals - mean) ** 2 for meals in self.meals) / self.n

    @property
    def idle(self) -> float:
        """Share of `think` among the turns that acted, 0 to 1; 0 if none acted.

        So a model that never calls a tool has 0, which reproduces the paper's reward of 1.0 for it.
        """
        acted = self.turns - self.lost_count
        return self.thinks / acted if acted else 0.0

    @property
    def efficiency(self) -> float:
        """Meals as a share of the most that any play eats in T rounds (`best_meals`), 0 to 1."""
        return self.eaten / best_meals(self.n, self.rounds).meals

    @property
    def jain(self) -> float:
        """Jain's fairness index of meals, 1/n to 1; 0 if nobody ate (Jain, Chiu and Hawe 1984)."""
        squares = sum(meals * meals for meals in self.meals)
        return self.eaten**2 / (self.n * squares) if squares else 0.0

    @property
    def starved(self) -> float:
        """Share of seats without a meal, 0 to 1."""
        return self.meals.count(0) / self.n

    @property
    def turns(self) -> int:
        """Turns taken by all seats, except those that a fault took."""
        return self.n * self.played - self.forced

    @property
    def lost_count(self) -> int:
        """Turns that did not act."""
        return sum(count for _, count in self.lost)

    @property
    def lost_turns(self) -> float:
        """Share of turns that did not act, 0 to 1."""
        return self.lost_count / self.turns if self.turns else 0.0


def terms(record: Record) -> Terms:
    """The terms of a finished episode.

    Args:
        record: The record of a game that ended.

    Raises:
        ValueError: The game was cut, so there is nothing to score, or the record does not replay.
    """
    if not record.complete:
        raise ValueError(f"This game was {record.ended}; only a game that ended can be scored.")
    rounds = replay(record)
    turns = Counter(
        turn.reading for round in rounds for seat, turn in enumerate(round.turns) if seat not in round.forced
    )
    kinds: Counter[Kind] = Counter()
    for reading, count in turns.items():
        kinds[reading.kind] += count
    return Terms(
        n=record.rules.n,
        rounds=record.rules.rounds,
        played=len(rounds),
        deadlocked=record.deadlocked,
        meals=rounds[-1].after.meals,
        thinks=sum(count for reading, count in turns.items() if reading.action is Action.THINK),
        lost=tuple((kind, kinds[kind]) for kind in LOST),
        several=kinds[Kind.SEVERAL],
        forced=sum(len(round.forced) for round in rounds),
        survivors=survivors(record) if record.rules.faults else None,
    )
