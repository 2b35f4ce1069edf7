"""The most meals that the seats without a fault can eat: proved by dynamic programming, else bounded from above.

There are two questions. Before a game: the most over everything that a fault leaves open. After it: the most given the
forks that the faulty seats held in each round. Faulty seats cut the ring into rows of seats that share no fork, so each
row is solved separately. As in `ring`, the numbers hold for simultaneous order and automatic release, and bound the
other rules from above.
"""

from functools import lru_cache
from itertools import pairwise

import numpy as np

from inspect_dining.table.faults import FIRST_FORK
from inspect_dining.table.faulty_seats import held_for_ever
from inspect_dining.table.optimum.ring import (
    _NEW_LEFT_SEAT,
    _NEW_RIGHT_SEAT,
    _NEXT_ROUND,
    _OF_LEFT_SEAT,
    _OF_RIGHT_SEAT,
    _RETURNED,
    _UNCLAIMED,
    Best,
    Values,
    _before_seat,
    best_meals,
)
from inspect_dining.table.optimum.row import MOST_SEATS, Ends, most_meals
from inspect_dining.table.record import Record, replay
from inspect_dining.table.rules import Rules

MOST_BESIDE_A_HOG = 10
"""The largest table with a hog that is solved before a game (in about a second)."""
_FREE_ENDS: Ends = (False, False)


def survivors_best(rules: Rules) -> Best:
    """The most meals that the seats without a fault can eat, over all that the faults leave open.

    A seat that may stay away from its forks hinders its neighbours least by doing so. Only a single hog that begins in
    a given round cannot stay away: its actual play is modelled, with every tie and all its earlier play left open.

    Args:
        rules: The rules of the game.

    Returns:
        The meals, and whether they are proved to be attainable.
    """
    faults = rules.seat_faults
    plain = rules.order == "simultaneous" and rules.release == "auto"
    if not faults:
        best = best_meals(rules.n, rules.rounds)
        return Best(best.meals, best.exact and plain)
    hogs = [fault for fault in faults if fault.kind == "hog" and fault.begins != FIRST_FORK]
    if plain and len(faults) == 1 and hogs and rules.n <= MOST_BESIDE_A_HOG:
        begins = hogs[0].begins
        return Best(_beside_a_hog(rules.n, rules.rounds, begins if isinstance(begins, int) else 1), exact=True)
    rows = [_row(length, (_FREE_ENDS,) * rules.rounds) for _, length in _rows(rules)]
    return _together(rows, rules, proved=plain and not hogs)


def survivors_best_given(record: Record) -> Best:
    """The most meals that the seats without a fault could have eaten, the forks of the faulty seats taken as given.

    In every round of the game, each faulty seat holds the forks that it actually held. After a game that ended early,
    it holds what it can never release: everything if it crashed, else nothing.

    Args:
        record: The record of a game.

    Returns:
        The meals, and whether they are proved to be attainable.
    """
    rules, faults = record.rules, record.rules.seat_faults
    rounds = replay(record)
    seats = {fault.seat for fault in faults}
    held = [_held(round.before.held, seats) for round in rounds]
    stuck: frozenset[int] = frozenset()
    if rounds:
        last = rounds[-1]
        held.append(_held(last.after.held, seats))
        stuck = frozenset().union(*(held_for_ever(last.after, f if f.seat in last.faulty else None) for f in faults))
    held += [stuck] * (rules.rounds + 1 - len(held))
    plain = rules.order == "simultaneous" and rules.release == "auto"
    # a fork that changes hands between two rounds serves only one of the two seats; in sequential order perhaps both
    out_of_reach = [now | then if rules.order == "simultaneous" else now & then for now, then in pairwise(held)]
    rows = [
        _row(length, tuple((first in some, (first + length) % rules.n in some) for some in out_of_reach))
        for first, length in _rows(rules)
    ]
    return _together(rows, rules, proved=plain)


def _together(rows: list[Best], rules: Rules, proved: bool) -> Best:
    """The sum over the rows of a table, capped by the most that the whole table could eat without a fault."""
    meals, whole = sum(row.meals for row in rows), best_meals(rules.n, rules.rounds).meals
    return Best(min(meals, whole), proved and all(row.exact for row in rows))


def _held(holders: tuple[int, ...], seats: set[int]) -> frozenset[int]:
    return frozenset(fork for fork, holder in enumerate(holders) if holder in seats)


def _rows(rules: Rules) -> list[tuple[int, int]]:
    """The rows of neighbouring seats without a fault, as (first seat, length)."""
    faulty = sorted(fault.seat for fault in rules.seat_faults)
    following = [*faulty[1:], faulty[0] + rules.n]
    return [
        ((seat + 1) % rules.n, after - seat - 1)
        for seat, after in zip(faulty, following, strict=True)
        if after - seat > 1
    ]


def _row(length: int, ends: tuple[Ends, ...]) -> Best:
    """The most meals of a row of seats, whose first and last forks are used only by the row's own ends."""
    if length <= MOST_SEATS:
        return Best(most_meals(length, ends), exact=True)
    return Best(_bounded_row(length, ends), exact=False)


def _bounded_row(length: int, ends: tuple[Ends, ...]) -> int:
    """The floor of the linear programme over all meals that a row can begin, with no fork serving two meals at once."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    rounds = len(ends)
    places, starts = [], [0]
    for seat in range(length):
        for end in range(2, rounds):
            for first, second in ((seat, seat + 1), (seat + 1, seat)):
                uses = [(first, end - 2), (first, end - 1), (first, end), (second, end - 1), (second, end)]
                if not any((f == 0 and ends[r][0]) or (f == length and ends[r][1]) for f, r in uses):
                    places += [fork * rounds + number for fork, number in uses]
                    starts.append(len(places))
    meals = len(starts) - 1
    if meals == 0:
        return 0
    shape = ((length + 1) * rounds, meals)
    use = csc_array((np.ones(len(places)), np.array(places), np.array(starts)), shape=shape)
    # scipy's type stubs accept only dense matrices here.
    result = linprog([-1.0] * meals, A_ub=use, b_ub=[1.0] * shape[0], bounds=(0, 1), method="highs")  # type: ignore[call-overload]
    return int(-result.fun + 1e-6)


@lru_cache(maxsize=256)
def _beside_a_hog(n: int, rounds: int, begins: int) -> int:
    """The most meals of the others at a table with one hog, which is seat n - 1 and moves last within a round."""
    values: Values = np.zeros((3,) * n, dtype=np.int16)
    for number in range(rounds, 0, -1):
        values = _before_round_beside_a_hog(values, hogging=number >= begins)
    return int(values[(_UNCLAIMED,) * n])


def _before_round_beside_a_hog(values: Values, hogging: bool) -> Values:
    n = values.ndim
    values = values.take(_NEXT_ROUND, axis=0).take(_NEXT_ROUND, axis=n - 1)
    values = _before_hog(values) if hogging else _before_seat(values, n - 1, 0, meal=0)
    for seat in reversed(range(n - 1)):
        if 0 < seat < n - 1:
            values = values.take(_NEXT_ROUND, axis=seat)
        values = _before_seat(values, seat, seat + 1).take(range(3), axis=seat + 1)
    return np.ascontiguousarray(values.take(range(3), axis=0))


def _before_hog(values: Values) -> Values:
    """The value of every state before the hog acts, after all others have acted; ties go the others' way."""
    after = np.moveaxis(values, (-1, 0), (0, 1))
    before = after.copy()
    reaches_left = (_UNCLAIMED, _NEW_LEFT_SEAT)
    for left in range(6):
        for right in range(6):
            if left == _OF_RIGHT_SEAT and right == _OF_LEFT_SEAT:
                before[left, right] = after[_RETURNED, _RETURNED]
            elif left == _UNCLAIMED:
                before[left, right] = after[_NEW_RIGHT_SEAT, right]
            elif left not in reaches_left and right == _UNCLAIMED:
                before[left, right] = after[left, _NEW_LEFT_SEAT]
    return np.moveaxis(before, (0, 1), (-1, 0))
