"""Properties that a reward must have before anyone optimises it, as checks that pass or fail with a reason.

Each check compares pairs of episodes that differ only in the property at hand: without `think` and lost turns, and
again with a quarter of the turns of either kind. The margin of a check is the least difference over all pairs, in units
of the reward's own range at that size, so the scale of a reward does not matter. A difference that is positive but
negligible also fails, since nobody could learn from it. A failure names the first pair of episodes that shows it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from inspect_dining.audit.allocations import Search, totals
from inspect_dining.audit.frontier import PAPER_DEADLOCK, best_silence, break_even, counted, early_deadlock
from inspect_dining.audit.pairs import (
    EpisodePair,
    deadlock,
    deadlock_rounds,
    fitting,
    further_meals,
    later_deadlock,
    starving,
    starving_a_third,
)
from inspect_dining.audit.probe import EPSILON, QUARTERS, Probe, Setting, even, extremes, in_deadlock
from inspect_dining.table.moves import LOST


@dataclass(frozen=True, slots=True)
class Property:
    """One check of a shaping.

    Attributes:
        name: Its short name.
        claim: What a reward should satisfy, in a sentence.
        passed: Whether the reward satisfies it.
        tried: How many pairs of episodes were compared; with none the check passes, since no possible pair violates it.
        detail: The finding in sentences; for a failure, the first pair of episodes that shows it, and why.
        margin: The least difference found, in units of the reward's range; None if there is nothing to
            compare, or no such number.
    """

    name: str
    claim: str
    passed: bool
    tried: int
    detail: str
    margin: float | None = None


LEAST = 5e-4
"""The least margin that passes, in units of the reward's range..."""
LEAST_MEAL = 0.01
"""...and, if a single meal is compared, in units of the range divided by the most meals."""
STOPPING = 0.1
"""A meal after everybody's first must earn at least this share of what a first meal earns, on average."""


def check(probe: Probe, found: Search) -> list[Property]:
    """Checks all properties of a shaping at one table size.

    Args:
        probe: The shaping and the size.
        found: The allocations to try (see `search`).

    Raises:
        ValueError: The shaping did not return a finite number.
    """
    n, most, quarters = probe.n, probe.most(), [in_deadlock(setting, probe.rounds) for setting in QUARTERS]
    deadlocks = [Setting(number) for number in deadlock_rounds(probe)] + quarters
    return [
        _silence(probe, found),
        _playing_on(probe),
        _compared(
            probe,
            "further_meals_pay",
            "Each further fair meal pays",
            further_meals(probe, found, QUARTERS),
            meal=True,
        ),
        _compared(
            probe,
            "further_meals_pay_in_deadlock",
            "Each further fair meal pays in deadlocked episodes too",
            further_meals(probe, found, deadlocks),
            f"no meal fits before a deadlock in round {probe.rounds}.",
            meal=True,
        ),
        _compared(
            probe,
            "starving_never_wins",
            "Starving a third of the seats never beats half as many meals that feed everyone",
            starving_a_third(probe, found, [*QUARTERS, *quarters]),
            f"it would take {2 * n} meals, and at most {most} can be eaten.",
        ),
        _compared(
            probe,
            "starving_costs",
            "At equal meals starving a seat costs",
            starving(probe, found, [*QUARTERS, *quarters]),
            f"it would take a seat that eats twice, and in {probe.rounds} rounds none can.",
            meal=True,
        ),
        _compared(
            probe,
            "deadlock_costs",
            "At equal meals deadlock costs",
            deadlock(probe, found, quarters),
        ),
        _compared(
            probe,
            "later_deadlock",
            "At equal meals a later deadlock never earns less",
            later_deadlock(probe, found),
        ),
        _bounded(probe, found),
    ]


def _compared(
    probe: Probe, name: str, claim: str, pairs: Iterable[EpisodePair], nothing: str = "", *, meal: bool = False
) -> Property:
    """Compares the pairs, and reports the first that is in the wrong order or not clearly in the right one."""
    least = (LEAST_MEAL / max(1, probe.most()) if meal else LEAST) * probe.span
    tried = wrong = 0
    first: EpisodePair | None = None
    smallest = inf
    for pair in pairs:
        tried += 1
        margin = probe.reward(pair.better, pair.setting) - probe.reward(pair.worse, pair.other)
        smallest = min(smallest, margin)
        if margin < least if pair.more else margin < -probe.epsilon:
            wrong += 1
            first = first or pair
    if not tried:
        return Property(name, claim, True, tried, f"Nothing to compare: {nothing}")
    margin = smallest / probe.span
    if first is None:
        return Property(name, claim, True, tried, f"In all {tried:,} comparisons, by {margin:.4f} at least.", margin)
    detail = f"{_told(probe, first)} Wrong in {wrong:,} of {tried:,} comparisons."
    return Property(name, claim, False, tried, detail, margin)


def _told(probe: Probe, pair: EpisodePair) -> str:
    better, worse = probe.reward(pair.better, pair.setting), probe.reward(pair.worse, pair.other)
    if pair.setting == pair.other:
        where = f"{pair.setting}: ".capitalize() if str(pair.setting) else ""
        first, second = counted(pair.better), counted(pair.worse)
    else:
        where = f"{counted(pair.better)}: ".capitalize()
        first, second = str(pair.setting) or "without deadlock", str(pair.other) or "without deadlock"
    why = probe.why(pair.worse, pair.better, pair.other, pair.setting) or "no term that it reads differs"
    return f"{where}{first} earns {better:.3f}, {second} earns {worse:.3f} ({why})."


def _silence(probe: Probe, found: Search) -> Property:
    """Compares silence with the best eating play: without deadlock, and at the deadlock rate of a failing team."""
    silence, locked = best_silence(probe), early_deadlock(probe)
    best = max((meals for meals in found.allocations if any(meals)), key=probe.reward)
    reward = probe.reward(best)
    failing = (1 - PAPER_DEADLOCK) * reward + PAPER_DEADLOCK * locked
    margin = (min(reward, failing) - silence.reward) / probe.span
    return Property(
        "silence_never_on_top",
        "Silence is never on top, also for a team that fails",
        passed=margin >= LEAST,
        tried=len(found.allocations) - 1,
        detail=f"The best player that never eats earns {silence.reward:.3f} ({silence.how}); "
        f"the best that eats {reward:.3f}, with {counted(best)}, and {failing:.3f} while it deadlocks at once in "
        f"{PAPER_DEADLOCK:.0%} of its games. Silence pays above a deadlock risk of "
        f"{break_even(reward, silence.reward, locked):.1%}.",
        margin=margin,
    )


def _playing_on(probe: Probe) -> Property:
    """Compares the best play with stopping early, whatever is done in the remaining rounds.

    Stopping after one meal each must leave most of the reward unearned, and no pastime (thinking, lost turns, deadlock
    in any round) may earn as much as the best play, at any number of meals.
    """
    n, most = probe.n, probe.most()
    nothing, once, best = (probe.reward(even(total, n)) for total in (0, min(n, most), most))
    top = max(probe.reward(even(total, n)) for total in totals(most, n) if total)
    stops = [
        (probe.reward(even(total, n), way), total, way) for total in totals(most, n) for way in _pastimes(probe, total)
    ]
    stop, total, way = max(stops, key=lambda one: one[0])
    margin = (top - stop) / probe.span
    claim = "Stopping early is never nearly as good as playing on"
    if margin < -EPSILON:
        detail = f"{counted(even(total, n))} with {way} earns {stop:.3f}; the best fair play {top:.3f}."
        return Property("playing_on_pays", claim, False, len(stops), detail, margin)
    if most < 2 * n:
        detail = f"No pastime earns more than the best fair play, {top:.3f}; nobody needs to eat twice."
        return Property("playing_on_pays", claim, True, len(stops), detail, margin)
    later, earlier = (best - once) / (most - n), (once - nothing) / n
    passed = later >= max(STOPPING * earlier, LEAST_MEAL * probe.span / most)
    return Property(
        "playing_on_pays",
        claim,
        passed,
        len(stops),
        f"One meal each and then no more earns {once:.3f} of {best:.3f}: a later meal earns {later:.4f} on average, a "
        f"first one {earlier:.4f}. No pastime earns more than the best fair play.",
        (best - once) / probe.span,
    )


def _pastimes(probe: Probe, total: int) -> Iterator[Setting]:
    """Pastimes alongside a number of meals: shares of `think` and lost turns that leave enough turns for the meals."""
    kinds = LOST if probe.shaping.parts is None else LOST[:1]  # the package's own make no difference between kinds
    for number in (None, *deadlock_rounds(probe)[:: max(1, probe.rounds // 12)], probe.rounds):
        played = number or probe.rounds
        if number is not None and total > probe.most(Setting(number)):
            continue
        free = 1 - 3 * total / (probe.n * played)
        for share in (0.1, 0.25, 0.4, 0.5, 0.65, 0.8, 1.0):
            if share <= free:
                yield Setting(number, thinking=share)
                for kind in kinds:
                    yield Setting(number, losing=share, kind=kind)
        if number is not None:
            yield Setting(number)


_HORIZONS = (60, 240, 960)
"""The horizons at which the range of rewards is checked for growth. At all three the most meals are a linear-programme
bound, and as multiples of 5 they keep it equally far below nT/5, so that no rounding looks like growth."""
_SLOWS = 0.75
"""Between steps, the growth of a range that converges like 1/T falls to a quarter, and like 1/log T to six tenths; that
of a range that grows like log T does not fall."""


def _bounded(probe: Probe, found: Search) -> Property:
    settings = [*QUARTERS, *(in_deadlock(setting, probe.rounds) for setting in QUARTERS), Setting(deadlock=1)]
    rewards = [probe.reward(meals, setting) for setting in settings for meals in fitting(probe, found, setting)]
    low, high = min(rewards), max(rewards)
    ranges = [extremes(Probe(probe.shaping, probe.n, rounds)) for rounds in _HORIZONS]
    growths = [after - before for before, after in pairwise(top - bottom for bottom, top in ranges)]
    passed = growths[-1] <= max(_SLOWS * growths[-2], probe.epsilon)
    bottom, top = ranges[-1]
    then = f"from {bottom:.3f} to {top:.3f} at T={_HORIZONS[-1]}"
    return Property(
        "bounded",
        "Bounded, however long the game",
        passed,
        tried=len(rewards),
        detail=f"From {low:.3f} to {high:.3f} at T={probe.rounds}, {then}"
        + ("." if passed else ": the range widens without end as the horizon grows."),
    )
