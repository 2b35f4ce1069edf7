"""The most meals of a row of seats, proved by dynamic programming over the seats' progress towards a meal.

A meal in round e takes one fork from round e - 2 on and the other from round e - 1 on. Holding a fork longer never
gains a meal, so a seat that takes its first fork takes the second in the next round and eats in the one after. At the
start of a round a seat is therefore free, about to take its second fork, or about to eat. In the last two cases it uses
both its forks in that round, and neither neighbour can be in the middle of a meal. This leaves about 2**n states for a
row of n seats, compared with 3**(n + 1) states of the forks.

Within a round the seats decide in order, starting with the first. An intermediate state holds two bits per seat: the
decision of each seat before the current one, and the start-of-round state of the others. `_ATE` marks the latest seat
if it ate in this round, since its neighbour must know that its fork is in use.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

MOST_SEATS = 16
"""The longest row that is solved: 87,000 states; the first row of 30 rounds takes 1 s, each further one 0.1 s."""
Ends = tuple[bool, bool]
"""Whether the first and the last fork of a row are out of reach in a round."""
_FREE, _ATE, _SECOND, _EATS = 0, 1, 2, 3
_NEVER = -10_000
"""The value of an impossible state."""
Codes = NDArray[np.int64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _Step:
    """The transitions of one seat, for every intermediate state before its decision.

    Attributes:
        goes_on: The index of the next state if the seat begins nothing.
        meal: Whether the seat eats in this round.
        begins: By which of the row's ends are out of reach (if they are the seat's): the index of the next state if the
            seat takes its first fork; one past the last index if it cannot.
    """

    goes_on: Places
    meal: NDArray[np.bool_]
    begins: Mapping[Ends, Places]


@dataclass(frozen=True, slots=True)
class _Row:
    """The transitions of a row in one round, for any forks out of reach.

    Attributes:
        steps: The decisions of a round, starting with the first seat.
        next: For each state after the last decision, its index among the states at the start of a round.
        at_ends: For each state at the start of a round, whether the first and whether the last seat uses both forks.
    """

    steps: Sequence[_Step]
    next: Places
    at_ends: tuple[NDArray[np.bool_], NDArray[np.bool_]]


@lru_cache(maxsize=4096)
def most_meals(length: int, ends: tuple[Ends, ...]) -> int:
    """The most meals that a row can eat.

    Args:
        length: Seats of the row, 1 to `MOST_SEATS`; each shares a fork with the next.
        ends: For each round, whether its first and its last fork, which nobody else in the row uses, are out of reach.
    """
    row = _row(length)
    values = np.zeros(len(row.at_ends[0]), np.int16)
    for blocked in reversed(ends):
        values = values[row.next]
        for seat in reversed(range(length)):
            step = row.steps[seat]
            mine = blocked[0] and seat == 0, blocked[1] and seat == length - 1
            reach = np.append(values, np.int16(_NEVER))
            values = np.maximum(values[step.goes_on] + step.meal, reach[step.begins[mine]])
        for out, uses in zip(blocked, row.at_ends, strict=True):
            if out:
                values[uses] = _NEVER
    return int(values[0])


@lru_cache(maxsize=4)
def _row(length: int) -> _Row:
    first = codes = _states(length)
    steps = []
    for seat in range(length):
        before, own, after = (_of(codes, place, length) for place in (seat - 1, seat, seat + 1))
        rest = codes & ~(3 << 2 * seat)
        if seat:
            rest = rest - np.where(before == _ATE, _ATE << 2 * (seat - 1), 0)
        goes_on = rest | np.array([_FREE, _FREE, _EATS, _ATE])[own] << 2 * seat
        begins = rest | _SECOND << 2 * seat
        # neighbours cannot both be in the middle of a meal when the next round begins
        may = (own == _FREE) & (before < _SECOND) & (after != _SECOND)
        later = np.unique(np.concatenate([goes_on, begins[may]]))
        place = np.searchsorted(later, begins)
        variants = {}
        for left_out in {False, seat == 0}:
            for right_out in {False, seat == length - 1}:
                # of its two forks one must be within reach now, the other in the next round
                reaches = may & ~(((before == _ATE) | left_out) & ((after == _EATS) | right_out))
                variants[left_out, right_out] = np.where(reaches, place, len(later))
        steps.append(_Step(np.searchsorted(later, goes_on), own == _EATS, variants))
        codes = later
    last = _of(codes, length - 1, length)
    return _Row(
        steps,
        np.searchsorted(first, codes - np.where(last == _ATE, _ATE << 2 * (length - 1), 0)),
        (_of(first, 0, length) != _FREE, _of(first, length - 1, length) != _FREE),
    )


def _states(length: int) -> Codes:
    """All states at the start of a round, in order: no two neighbours in the middle of a meal."""
    codes = np.zeros(1, np.int64)
    for seat in range(length):
        idle = codes[_of(codes, seat - 1, length) == _FREE]
        codes = np.concatenate([codes, idle | _SECOND << 2 * seat, idle | _EATS << 2 * seat])
    return np.sort(codes)


def _of(codes: Codes, seat: int, length: int) -> Codes:
    """The part of the states that belongs to a seat; free if there is no such seat."""
    return codes >> 2 * seat & 3 if 0 <= seat < length else np.zeros_like(codes)
