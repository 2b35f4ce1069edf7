"""Attainable rewards: of a player that never eats, and of even splits of every number of meals, with their risk.

Nothing here is sampled. The best silent player is the best of several settings without a meal; the frontier is the
reward of the most even split of 0, 1, 2, ... meals up to the most that can be eaten.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from inspect_dining.audit.allocations import Search
from inspect_dining.audit.probe import PLAIN, Meals, Probe, Setting
from inspect_dining.table.moves import LOST

PAPER_DEADLOCK = 0.87
"""How often the paper's Qwen3-14B deadlocked at n = 5, before and about after its training (arXiv 2606.07845)."""


@dataclass(frozen=True, slots=True)
class Silence:
    """The most that can be earned without a single meal.

    Attributes:
        reward: The reward.
        how: The behaviour of all seats, in words.
    """

    reward: float
    how: str


@dataclass(frozen=True, slots=True)
class Point:
    """An even split of some meals, in a game that does not deadlock, without `think` and lost turns.

    Attributes:
        meals: Meals of the whole table.
        split: The meals of each seat.
        reward: The reward.
        in_deadlock: The reward if the game deadlocks in its last round, or None if it then cannot be eaten.
        break_even: The chance of deadlock up to which playing for it pays, 0 to 1 (see `break_even`).
    """

    meals: int
    split: Meals
    reward: float
    in_deadlock: float | None
    break_even: float


def best_silence(probe: Probe) -> Silence:
    """The best of: no call at all, each other kind of lost turn, `think`, and actions without effect; all or half.

    Raises:
        ValueError: The shaping did not return a finite number.
    """
    ways = [(Setting(losing=1.0, kind=kind), f"every turn lost ({kind})") for kind in LOST]
    ways += [(PLAIN, "only actions without effect"), (Setting(thinking=1.0), "only `think`")]
    ways += [(Setting(losing=0.5), "half of the turns lost"), (Setting(thinking=0.5), "half of the turns `think`")]
    nothing = (0,) * probe.n
    best = Silence(probe.reward(nothing, ways[0][0]), ways[0][1])
    for setting, how in ways[1:]:
        reward = probe.reward(nothing, setting)
        if reward > best.reward + probe.epsilon:
            best = Silence(reward, how)
    return best


def early_deadlock(probe: Probe) -> float:
    """The reward of a game that deadlocks in its first round, before anybody ate, thought or lost a turn."""
    return probe.reward((0,) * probe.n, Setting(deadlock=1))


def break_even(reward: float, silence: float, deadlock: float) -> float:
    """The risk of deadlock at which playing earns as much as the best silent player.

    Playing earns `reward` or, with chance p, deadlocks at once and earns `deadlock`. It is worth as much as silence at
    p = (reward - silence) / (reward - deadlock). If silence earns 1 and an early deadlock 0, as with the paper's
    weights, that is 1 - 1/reward.

    Args:
        reward: The reward of play without a deadlock.
        silence: The reward of the best silent player.
        deadlock: The reward of an early deadlock.

    Returns:
        The risk, 0 to 1: 0 if silence always earns as much, 1 if even certain deadlock earns as much as
        silence.
    """
    if reward <= silence:
        return 0.0
    if deadlock >= silence:
        return 1.0
    return (reward - silence) / (reward - deadlock)


def frontier(probe: Probe, found: Search) -> list[Point]:
    """The reward of the most even split of every number of meals, from none to the most that can be eaten.

    If the order of the seats matters, each number of meals is represented by the best order tried.

    Raises:
        ValueError: The shaping did not return a finite number.
    """
    silence, deadlock = best_silence(probe).reward, early_deadlock(probe)
    last = Setting(deadlock=probe.rounds)
    points = []
    for meals in range(probe.most() + 1):
        splits = found.evens(meals)
        split = max(splits, key=probe.reward)
        reward = probe.reward(split)
        locked = max(probe.reward(s, last) for s in splits) if meals <= probe.most(last) else None
        points.append(Point(meals, split, reward, locked, break_even(reward, silence, deadlock)))
    return points


def best_fair(points: Sequence[Point]) -> Point:
    """The point with the highest reward among those with a meal; of equal points, the one with fewer meals.

    Raises:
        ValueError: No meal is possible.
    """
    return max((point for point in points if point.meals), key=lambda point: point.reward)


def told(meals: Meals) -> str:
    """An allocation in a few characters: 2/1/1/0/0, or for large tables `2 x1, 1 x6, 0 x8`."""
    if len(meals) <= 10:
        return "/".join(map(str, meals))
    runs: list[list[int]] = []
    for number in meals:
        if runs and runs[-1][0] == number:
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return ", ".join(f"{number} x{length}" for number, length in runs)


def counted(meals: Meals) -> str:
    """The number of meals and the allocation: `3 meals (1/1/1/0/0)`."""
    total = sum(meals)
    return f"{total} meal{'' if total == 1 else 's'} ({told(meals)})"
