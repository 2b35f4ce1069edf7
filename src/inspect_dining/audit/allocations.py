"""The allocations of meals on which an audit tries a shaping: all of them, or those that are decisive by structure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from inspect_dining.audit.probe import QUARTERS, Meals, Probe, even, hogs, in_deadlock

MOST_ENUMERATED = 100_000
"""The largest number of allocations that are all tried for a shaping not known to be separable."""
MOST_FAMILY = 8_000
"""A larger family of even splits and hogs is thinned to fewer numbers of meals and of fed seats."""
DRAWN = 5_000
"""The number of allocations drawn at random if there are too many to try."""


def partitions(n: int, most: int, cap: int) -> Iterator[Meals]:
    """Every allocation of at most `most` meals, no seat above `cap`, once per set of orders of the seats."""
    if n == 0:
        yield ()
        return
    for first in range(min(most, cap) + 1):
        for rest in partitions(n - 1, most - first, first):
            yield (first, *rest)


def allocations(n: int, most: int, cap: int) -> Iterator[Meals]:
    """Every allocation of at most `most` meals, no seat above `cap`, in every order of the seats."""
    if n == 0:
        yield ()
        return
    for first in range(min(most, cap) + 1):
        for rest in allocations(n - 1, most - first, cap):
            yield (first, *rest)


def count(n: int, most: int, cap: int, symmetric: bool) -> int:
    """The number of allocations from `partitions` (if symmetric) or `allocations`."""
    ways = [[0] * (most + 1) for _ in range(n + 1)]
    ways[0][0] = 1
    if symmetric:
        for size in range(1, cap + 1):
            for parts in range(1, n + 1):
                for total in range(size, most + 1):
                    ways[parts][total] += ways[parts - 1][total - size]
        return sum(map(sum, ways))
    for parts in range(1, n + 1):
        for total in range(most + 1):
            ways[parts][total] = sum(ways[parts - 1][max(0, total - cap) : total + 1])
    return sum(ways[n])


@dataclass(frozen=True, slots=True)
class Search:
    """The allocations on which a shaping is tried, and what they prove.

    Attributes:
        allocations: The allocations, at most `Probe.most` meals.
        symmetric: Whether the order of the seats does not matter; each allocation then represents all orders.
        exact: Whether results for them hold for all possible allocations.
        method: How they were chosen, in a sentence.
    """

    allocations: tuple[Meals, ...]
    symmetric: bool
    exact: bool
    method: str

    def evens(self, meals: int) -> list[Meals]:
        """The most even splits of some meals: one if symmetric, else several orders of the seats."""
        split = even(meals, len(self.allocations[0]))
        return [split] if self.symmetric else _orders(split)


def _orders(split: Meals) -> list[Meals]:
    """Orders of an even split: the larger shares side by side and spread out, turned to every seat."""
    n, least = len(split), split[-1]
    more = sum(meals > least for meals in split)
    spread = {seat * n // more for seat in range(more)} if more else set()
    apart = tuple(least + (seat in spread) for seat in range(n))
    return sorted({order[turn:] + order[:turn] for order in (split, apart) for turn in range(n)}, reverse=True)


def search(probe: Probe) -> Search:
    """Chooses the allocations to try: all of them if feasible, else those that are decisive by structure."""
    n, most, cap = probe.n, probe.most(), probe.cap()
    family = _family(n, most, cap)
    for known, holds, reward in (
        (
            probe.shaping.separable,
            _concave,
            "is a sum of one concave function of each seat's meals (concavity checked for every number of meals)",
        ),
        (
            probe.shaping.ranked,
            _weights_fall,
            "weighs each seat's meals by the seat's rank, a hungrier seat's more (checked for every rank)",
        ),
    ):
        if known and holds(probe):
            method = f"Proved: at equal meals the reward {reward}, so even splits, over any number of seats, are its "
            thinned = most * n > MOST_FAMILY
            more = " At this size, not every number of meals was tried." if thinned else ""
            method += f"maxima and hogs its minima.{more}"
            return Search(family, symmetric=True, exact=not thinned, method=method)
    symmetric = probe.shaping.separable or probe.shaping.ranked or _looks_symmetric(probe, family)
    seats = "the order of the seats made no difference where tried" if symmetric else "the order of the seats counts"
    number = count(n, most, cap, symmetric)
    if number <= MOST_ENUMERATED:
        every = partitions(n, most, cap) if symmetric else allocations(n, most, cap)
        method = (
            f"Enumerated: all {number:,} possible allocations ({seats}); `think`, lost turns and deadlock by samples."
        )
        return Search(tuple(every), symmetric, exact=True, method=method)
    drawn = _drawn(n, most, cap, symmetric)
    if not symmetric:
        family = tuple(sorted({meals[turn:] + meals[:turn] for meals in family for turn in range(n)}))
    tried = tuple(dict.fromkeys(family + drawn))
    method = (
        f"Searched, not proved: {len(tried):,} of {number:,} possible allocations - even splits over any number of "
        f"seats, hogs, and {DRAWN:,} drawn at random ({seats})."
    )
    return Search(tried, symmetric, exact=False, method=method)


def totals(most: int, n: int) -> list[int]:
    """The numbers of meals, 0 to the most, that a family tries: all, or a hundred plus the ones that matter."""
    if most * n <= MOST_FAMILY:
        return list(range(most + 1))
    spread = {round(place * most / 100) for place in range(101)}
    near = {turn * n + more for turn in (1, 2, 3, most // n) for more in (-1, 0, 1)}
    return sorted({0, 1, 2, 3, most - 1, most, *spread, *(total for total in near if 0 <= total <= most)})


def _family(n: int, most: int, cap: int) -> tuple[Meals, ...]:
    """For every number of meals: even splits over every number of seats, and hogs; thinned if there are too many."""
    chosen: dict[Meals, None] = {(0,) * n: None}
    tried = totals(most, n)
    few = {1, 2, n // 2, 2 * n // 3, n - 1, n, *(round(place * n / 12) for place in range(1, 13))}
    seats = range(1, n + 1) if len(tried) > most else sorted(seat for seat in few if 1 <= seat <= n)
    for meals in tried[1:]:
        for fed in (seat for seat in seats if seat <= meals):
            if meals <= fed * cap:
                chosen[even(meals, n, fed)] = None
        chosen[hogs(meals, n, cap)] = None
    return tuple(chosen)


def _concave(probe: Probe) -> bool:
    """Whether moving a meal from one of two equal seats to the other never pays, for every number of meals."""
    others = (0,) * (probe.n - 2)
    settings = [*QUARTERS, *(in_deadlock(setting, probe.rounds) for setting in QUARTERS)]
    return all(
        probe.reward((meals + 1, meals - 1, *others), setting)
        <= probe.reward((meals, meals, *others), setting) + probe.epsilon
        for setting in settings
        for meals in range(1, probe.cap())
    )


def _weights_fall(probe: Probe) -> bool:
    """Whether a first meal is worth more the more seats have already eaten, so that hungrier ranks weigh more."""
    first = [(1,) * fed + (0,) * (probe.n - fed) for fed in range(probe.n + 1)]
    settings = [*QUARTERS, *(in_deadlock(setting, probe.rounds) for setting in QUARTERS)]
    for setting in settings:
        rewards = [probe.reward(meals, setting) for meals in first]
        gains = [after - before for before, after in pairwise(rewards)]
        if any(later < earlier - probe.epsilon for earlier, later in pairwise(gains)):
            return False
    return True


def _looks_symmetric(probe: Probe, family: Sequence[Meals]) -> bool:
    """Whether no order of the seats changed the reward, on up to 500 allocations, six settings and four orders each."""
    random = Random(0)
    settings = [*QUARTERS, *(in_deadlock(setting, probe.rounds) for setting in QUARTERS)]
    for meals in random.sample(family, min(500, len(family))):
        shuffles = [tuple(random.sample(meals, probe.n)) for _ in range(2)]
        for setting in settings:
            reward = probe.reward(meals, setting)
            for order in (meals[::-1], meals[1:] + meals[:1], *shuffles):
                if abs(probe.reward(order, setting) - reward) > probe.epsilon:
                    return False
    return True


def _drawn(n: int, most: int, cap: int, symmetric: bool) -> tuple[Meals, ...]:
    random = Random(0)
    drawn = []
    for _ in range(DRAWN):
        fed = random.randint(1, min(n, most))
        meals = [1] * fed + [0] * (n - fed)
        for _ in range(random.randint(0, min(most, fed * cap) - fed)):
            open_seats = [seat for seat in range(fed) if meals[seat] < cap]
            meals[random.choice(open_seats)] += 1
        random.shuffle(meals)
        drawn.append(tuple(sorted(meals, reverse=True)) if symmetric else tuple(meals))
    return tuple(drawn)
