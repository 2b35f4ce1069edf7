"""The pairs of episodes that the properties of a reward compare."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from inspect_dining.audit.allocations import Search, totals
from inspect_dining.audit.probe import QUARTERS, Meals, Probe, Setting, hogs, in_deadlock


class EpisodePair(NamedTuple):
    """Two episodes, the first of which should earn more, or at least not less."""

    better: Meals
    worse: Meals
    setting: Setting
    other: Setting
    more: bool


def fitting(probe: Probe, found: Search, setting: Setting) -> Iterator[Meals]:
    """The tried allocations that are possible in a setting."""
    most, cap = probe.most(setting), probe.cap(setting)
    return (meals for meals in found.allocations if sum(meals) <= most and max(meals) <= cap)


def _moved(meals: Meals, giver: int | None, taker: int, symmetric: bool) -> Meals:
    """The allocation after one more meal for a seat, possibly taken from another seat."""
    after = list(meals)
    after[taker] += 1
    if giver is not None:
        after[giver] -= 1
    return tuple(sorted(after, reverse=True)) if symmetric else tuple(after)


def further_meals(probe: Probe, found: Search, settings: Iterable[Setting]) -> Iterator[EpisodePair]:
    """One more meal for a seat with the fewest, from every even split."""
    for setting in settings:
        for total in totals(probe.most(setting) - 1, probe.n):
            for meals in found.evens(total):
                hungriest = [seat for seat, eaten in enumerate(meals) if eaten == min(meals)]
                for seat in hungriest[:1] if found.symmetric else hungriest:
                    yield EpisodePair(_moved(meals, None, seat, found.symmetric), meals, setting, setting, more=True)


def starving_a_third(probe: Probe, found: Search, settings: Iterable[Setting]) -> Iterator[EpisodePair]:
    """Every allocation with a third or more of the seats unfed, compared with half its meals, rounded down, for all."""
    for setting in settings:
        worst = _worst_evens(probe, found, setting)
        for meals in fitting(probe, found, setting):
            half = sum(meals) // 2
            if 3 * meals.count(0) >= probe.n and half >= probe.n:
                yield EpisodePair(worst[half], meals, setting, setting, more=True)


def starving(probe: Probe, found: Search, settings: Iterable[Setting]) -> Iterator[EpisodePair]:
    """Every allocation with an unfed seat, compared with two others of as many meals.

    In one, a seat that ate twice or more gives it a meal; the other is the even split, if that feeds everyone.
    """
    for setting in settings:
        worst = _worst_evens(probe, found, setting)
        for meals in fitting(probe, found, setting):
            if 0 not in meals or max(meals) < 2:
                continue
            givers = [seat for seat, eaten in enumerate(meals) if eaten > 1]
            takers = [seat for seat, eaten in enumerate(meals) if not eaten]
            if found.symmetric:
                givers, takers = [meals.index(eaten) for eaten in {meals[seat] for seat in givers}], takers[:1]
            if not found.exact:
                givers, takers = givers[:2], takers[:2]
            for giver in givers:
                for taker in takers:
                    yield EpisodePair(_moved(meals, giver, taker, found.symmetric), meals, setting, setting, more=True)
            if sum(meals) >= probe.n:
                yield EpisodePair(worst[sum(meals)], meals, setting, setting, more=True)


def _worst_evens(probe: Probe, found: Search, setting: Setting) -> list[Meals]:
    """The even split of each number of meals, in the order of the seats that earns least."""
    totals = range(probe.most(setting) + 1)
    return [min(found.evens(total), key=lambda meals: probe.reward(meals, setting)) for total in totals]


def deadlock(probe: Probe, found: Search, quarters: Iterable[Setting]) -> Iterator[EpisodePair]:
    """Every allocation compared with itself and a deadlock in the last round; even splits and hogs with one in any."""
    for setting in quarters:
        alive = Setting(None, setting.thinking, setting.losing, setting.kind)
        for meals in fitting(probe, found, setting):
            yield EpisodePair(meals, meals, alive, setting, more=True)
    for number in deadlock_rounds(probe):
        for meals in _plain_ways(probe, found, Setting(number)):
            yield EpisodePair(meals, meals, Setting(), Setting(number), more=True)


def later_deadlock(probe: Probe, found: Search) -> Iterator[EpisodePair]:
    """A deadlock in any round compared with one a round later.

    With shares of `think` or lost turns, the later one is four rounds later, so a quarter of the turns is a whole
    number.
    """
    for setting in QUARTERS:
        step = 1 if setting == Setting() else 4
        for number in (n for n in deadlock_rounds(probe) if n % step == 0 and n <= probe.rounds - step):
            early, late = in_deadlock(setting, number), in_deadlock(setting, number + step)
            for meals in _plain_ways(probe, found, early):
                yield EpisodePair(meals, meals, late, early, more=False)


def _plain_ways(probe: Probe, found: Search, setting: Setting) -> Iterator[Meals]:
    """Even splits of every number of meals that is possible in a setting, and hogs."""
    for total in totals(probe.most(setting), probe.n):
        yield from found.evens(total)
        if total > 1:
            yield hogs(total, probe.n, probe.cap(setting))


def deadlock_rounds(probe: Probe) -> list[int]:
    """The rounds before the last in which a deadlock is tried: all, or forty if there are more."""
    every = range(1, probe.rounds)
    return (
        list(every) if len(every) <= 60 else sorted({round(1 + place * (len(every) - 1) / 39) for place in range(40)})
    )
