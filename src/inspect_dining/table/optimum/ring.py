"""The most meals that any play can eat: exact if the solver below has proved it, else an upper bound.

The numbers hold for simultaneous order and automatic release, and bound every other rule set and order from above:
holding forks longer never helps, and a fork that is put down in a round need not have been held during it.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from inspect_dining.table.rules import is_whole, plain_int

Values = NDArray[np.int16]

_UNCLAIMED, _OF_RIGHT_SEAT, _OF_LEFT_SEAT = 0, 1, 2
_NEW_RIGHT_SEAT, _NEW_LEFT_SEAT, _RETURNED = 3, 4, 5
_NEXT_ROUND = np.array([_UNCLAIMED, _OF_RIGHT_SEAT, _OF_LEFT_SEAT, _OF_RIGHT_SEAT, _OF_LEFT_SEAT, _UNCLAIMED])
"""The state of a fork at the start of the next round, for each state within a round."""


def solve(n: int, rounds: int) -> list[int]:
    """Proves the most meals in 1, 2, ..., `rounds` rounds from an empty table, by dynamic programming.

    The recursion runs backward over rounds and, within a round, over seats. A fork is free, held as the left fork of
    the seat to its right, or held as the right fork of the seat to its left; within a round it may also be newly
    claimed by either, or returned after a meal. Putting a fork down without a meal and waiting with two forks are left
    out: play without them eats as much, since such a fork can be picked up later instead and a meal eaten earlier frees
        forks earlier.

    Args:
        n: Seats, at least 2. Memory grows as 36 * 3**(n - 2) numbers.
        rounds: The longest horizon.

    Returns:
        The most meals for each horizon from 1 to `rounds`.
    """
    values: Values = np.zeros((3,) * n, dtype=np.int16)
    best = []
    for _ in range(rounds):
        values = _before_round(values)
        best.append(int(values[(0,) * n]))
    return best


def _before_round(values: Values) -> Values:
    """The value of every table one round earlier; axis i is fork i."""
    n = values.ndim
    values = values.take(_NEXT_ROUND, axis=0)
    for seat in reversed(range(n)):
        if seat > 0:
            values = values.take(_NEXT_ROUND, axis=seat)
        values = _before_seat(values, seat, (seat + 1) % n)
        if seat + 1 < n:
            values = values.take(range(3), axis=seat + 1)
    return np.ascontiguousarray(values.take(range(3), axis=0))


def _before_seat(values: Values, left: int, right: int, meal: int = 1) -> Values:
    """The value of every table before one seat acts: the best of waiting, picking up a free fork, and eating.

    Args:
        values: The value of every table after it, within a round.
        left: The axis of its left fork.
        right: The axis of its right fork.
        meal: The value of its meal.
    """
    after = np.moveaxis(values, (left, right), (0, 1))
    before = after.copy()
    np.maximum(before[_UNCLAIMED], after[_NEW_RIGHT_SEAT], out=before[_UNCLAIMED])
    np.maximum(before[:, _UNCLAIMED], after[:, _NEW_LEFT_SEAT], out=before[:, _UNCLAIMED])
    before[_OF_RIGHT_SEAT, _OF_LEFT_SEAT] = after[_RETURNED, _RETURNED] + meal
    return np.moveaxis(before, (0, 1), (left, right))


@dataclass(frozen=True, slots=True)
class Best:
    """The most meals that a table can eat.

    Attributes:
        meals: The number of meals of the whole table.
        exact: Whether some play eats as many (proved for simultaneous order and automatic release); otherwise
            the number is an upper bound.
    """

    meals: int
    exact: bool


def best_meals(n: int, rounds: int) -> Best:
    """The most meals in `rounds` rounds from an empty table.

    Exact for n <= 15 and at most 50 rounds (from `solve`); elsewhere the floor of a linear-programme bound, which is
    loose by some percent: 86 at n = 15 and 30 rounds, where the exact number is 84.

    Args:
        n: Seats, at least 2.
        rounds: The horizon, at least 1.

    Returns:
        The number of meals and whether it is exact.

    Raises:
        ValueError: n is not a whole number of at least 2, or rounds not one of at least 1.
    """
    seats, horizon = plain_int(n), plain_int(rounds)
    if not is_whole(seats) or not is_whole(horizon) or seats < 2 or horizon < 1:
        raise ValueError(
            f"best_meals(n={n!r}, rounds={rounds!r}): n must be a whole number of at least 2, rounds one of at least 1."
        )
    return _best(seats, horizon)


@lru_cache(maxsize=4096)
def _best(n: int, rounds: int) -> Best:
    gains = _GAINS.get(n, "")
    if rounds <= len(gains):
        return Best(sum(map(int, gains[:rounds])), exact=True)
    return Best(_bound(n, rounds), exact=False) if rounds > 2 else Best(0, exact=True)


def _bound(n: int, rounds: int) -> int:
    """The floor of the linear programme, for 3 rounds or more."""
    return int(n * _meals_per_seat(rounds) + 1e-6)


@lru_cache(maxsize=256)
def _meals_per_seat(rounds: int) -> float:
    """The linear programme: the most meals per seat, averaged over the ring, with no fork serving two at once.

    A meal takes both forks in its round and the round before, and one of them two rounds before.
    """
    from scipy.optimize import linprog
    from scipy.sparse import diags_array

    use = diags_array([2.0, 2.0, 1.0], offsets=[0, 1, 2], shape=(rounds, rounds))
    limits = [(0, 0)] * 2 + [(0, None)] * (rounds - 2)
    ones = [1.0] * rounds
    # scipy's type stubs accept only dense matrices here.
    result = linprog([-1.0] * rounds, A_ub=use, b_ub=ones, bounds=limits, method="highs")  # type: ignore[call-overload]
    return float(-result.fun)


_GAINS: dict[int, str] = {
    2: "00100100100100100100100100100100100100100100100100",
    3: "00101010101010101010101010101010101010101010101010",
    4: "00201101101101101101101101101101101101101101101101",
    5: "00201111111111111111111111111111111111111111111111",
    6: "00301202111111111111111111111111111111111111111111",
    7: "00302112111211211211211211211211211211211211211211",
    8: "00402212112121212121212121212121212121212121212121",
    9: "00402212212212212212212212212212212212212212212212",
    10: "00502312222212222222222222222222222222222222222222",
    11: "00503222222222222222222222222222222222222222222222",
    12: "00603313223222322232232232232232232232232232232232",
    13: "00603323223232323232323232323232323232323232323232",
    14: "00703414223323323323323323323323323323323323323323",
    15: "00704324233323333333333333333333333333333333333333",
}
"""For each n from 2 to 15, as proved by `solve`: how many meals the 1st, 2nd, ... 50th round adds to the most that can
be eaten."""
