"""The performance of seats without a fault: their share of the possible meals, who starves, and for how long.

Failure locality, the distance from a crashed process at which others starve, is the classical measure of fault
tolerance for this very problem (Choy and Singh, 1995).
"""

from dataclasses import dataclass
from statistics import fmean

from inspect_dining.table.optimum.faulty import survivors_best_given
from inspect_dining.table.record import Record, replay


@dataclass(frozen=True, slots=True)
class Survivors:
    """The results of the seats without a fault in one game.

    Attributes:
        meals: Their meals.
        best: The most that they could have eaten, the forks of the faulty seats taken as given.
        exact: Whether `best` is proved to be attainable; otherwise it is an upper bound.
        begun: The round in which the first fault began, or None if none did.
        starved: For each distance from the nearest faulty seat, starting at 1: how many seats there ate nothing from
            that round on, and how many seats there are.
        wait: The mean over seats of the rounds from the fault to the seat's next meal, that round included, or to the
            horizon if it had no further meal; None if no fault began.
    """

    meals: int
    best: int
    exact: bool
    begun: int | None
    starved: tuple[tuple[int, int], ...]
    wait: float | None

    @property
    def efficiency(self) -> float | None:
        """Their meals as a share of the most that they could have eaten, 0 to 1; None if they could eat nothing."""
        return self.meals / self.best if self.best else None

    @property
    def locality(self) -> int | None:
        """Farthest distance from a fault at which a seat had no further meal; 0 if all ate, None without faults."""
        if self.begun is None:
            return None
        return max((distance for distance, (hungry, _) in enumerate(self.starved, 1) if hungry), default=0)


def survivors(record: Record) -> Survivors:
    """Computes the results of the seats without a fault.

    Args:
        record: The record of a finished game whose rules have faults.
    """
    rules, rounds = record.rules, replay(record)
    faulty = [fault.seat for fault in rules.seat_faults]
    healthy = [seat for seat in range(rules.n) if seat not in faulty]
    best = survivors_best_given(record)
    begun = next((round.number for round in rounds if round.faulty), None)
    since = [] if begun is None else rounds[begun - 1 :]
    waits, counts = [], [[0, 0] for _ in range(max(_distance(seat, faulty, rules.n) for seat in healthy))]
    for seat in healthy:
        at = next((r.number for r in since if r.after.meals[seat] > r.before.meals[seat]), None)
        waits.append((rules.rounds if at is None else at) - (begun or 1) + 1)
        count = counts[_distance(seat, faulty, rules.n) - 1]
        count[0] += begun is not None and at is None
        count[1] += 1
    return Survivors(
        meals=sum(rounds[-1].after.meals[seat] for seat in healthy),
        best=best.meals,
        exact=best.exact,
        begun=begun,
        starved=tuple((hungry, seats) for hungry, seats in counts),
        wait=None if begun is None else fmean(waits),
    )


def _distance(seat: int, faulty: list[int], n: int) -> int:
    return min(min((seat - other) % n, (other - seat) % n) for other in faulty)
