"""Hypothetical episodes for a shaping: who ate how much, how the game ended, and what else was done.

An allocation gives each seat its meals. In a game of T rounds it counts as possible if the table eats at most
`best_meals(n, T)` and no seat more than T // 3 times, since a meal takes three rounds; in a game that deadlocks in
round p the forks of the last meal are back by round p - 1, so T becomes p - 1. No play leaves these bounds, so a
property that holds within them holds for every play. Not every allocation within them can be played, so a finding
against a shaping uses even splits and small numbers of meals, and names the allocation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.scorers.terms import Terms
from inspect_dining.table.moves import LOST, Kind
from inspect_dining.table.optimum.ring import best_meals

Meals = tuple[int, ...]

EPSILON = 1e-9
"""Rewards closer than this share of their range count as equal."""
MOST_KNOWN = 200_000
"""The maximum number of rewards that are cached."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything about an episode except its meals.

    Attributes:
        deadlock: The round in which it deadlocks, or None if it does not.
        thinking: The share of its turns that are `think`, rounded down to whole turns.
        losing: The share of its turns that are lost, rounded down to whole turns.
        kind: The kind of those lost turns.
    """

    deadlock: int | None = None
    thinking: float = 0.0
    losing: float = 0.0
    kind: Kind = Kind.NO_CALL

    def __str__(self) -> str:
        """The setting in words; empty for a game without deadlock, `think` or lost turns."""
        words = [f"deadlocked in round {self.deadlock}"] if self.deadlock else []
        words += [f"{self.thinking:.0%} of turns `think`"] if self.thinking else []
        words += [f"{self.losing:.0%} of turns lost"] if self.losing else []
        return ", ".join(words)


_NONE_LOST = tuple((kind, 0) for kind in LOST)
PLAIN = Setting()
"""No deadlock, no `think`, no lost turn: waiting seats take actions without effect."""
QUARTERS = (Setting(), Setting(thinking=0.25), Setting(losing=0.25))
"""The settings, of a game that does not deadlock, in which properties are checked. A meal takes three turns and
five fork-rounds, so whatever is eaten, a quarter of the turns is available for thinking or losing."""


def in_deadlock(setting: Setting, number: int) -> Setting:
    """The same setting in a game that deadlocks in the given round."""
    return Setting(number, setting.thinking, setting.losing, setting.kind)


class Probe:
    """A shaping at one table size, which gives the reward of any allocation and setting.

    Attributes:
        shaping: The shaping.
        n: Seats.
        rounds: The horizon T.
    """

    def __init__(self, shaping: Shaping, n: int, rounds: int) -> None:
        self.shaping = shaping
        self.n = n
        self.rounds = rounds
        self._known: dict[tuple[Meals, Setting], float] = {}

    def reward(self, meals: Meals, setting: Setting = PLAIN) -> float:
        """The reward by the shaping.

        Raises:
            BadInput: The shaping raised or did not return a finite number; the message names the episode.
        """
        key = meals, setting
        if key not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            episode = self.terms(meals, setting)
            try:
                self._known[key] = self.shaping(episode)
            except ValueError as error:
                raise BadInput(str(error)) from error
            except Exception as error:  # a user's function may raise anything
                raise BadInput(
                    f"The shaping {self.shaping.name} raised {type(error).__name__} ({error}) for {episode}."
                ) from error
        return self._known[key]

    @cached_property
    def span(self) -> float:
        """The range of rewards over extreme allocations, the unit of every margin; 1 if all earn the same."""
        low, high = extremes(self)
        return high - low or 1.0

    @property
    def epsilon(self) -> float:
        """Rewards closer than this count as equal."""
        return EPSILON * self.span

    def terms(self, meals: Meals, setting: Setting = PLAIN) -> Terms:
        """The terms of an episode with these meals in this setting."""
        played = setting.deadlock or self.rounds
        turns = self.n * played
        lost = int(setting.losing * turns)
        return Terms(
            n=self.n,
            rounds=self.rounds,
            played=played,
            deadlocked=setting.deadlock is not None,
            meals=meals,
            thinks=min(int(setting.thinking * turns), turns - lost),
            lost=tuple((kind, lost if kind is setting.kind else 0) for kind in LOST) if lost else _NONE_LOST,
        )

    def most(self, setting: Setting = PLAIN) -> int:
        """The most meals of the whole table that are possible in a setting."""
        return most_meals(self.n, _eating_rounds(self.rounds, setting))

    def cap(self, setting: Setting = PLAIN) -> int:
        """The most meals of one seat that are possible in a setting."""
        return _eating_rounds(self.rounds, setting) // 3

    def why(self, before: Meals, after: Meals, setting: Setting, other: Setting | None = None) -> str:
        """What changes the reward between two episodes: its parts, or the terms if the parts are not known."""
        first, second = self.terms(before, setting), self.terms(after, other or setting)
        if self.shaping.parts is not None:
            old, new = self.shaping.parts(first), self.shaping.parts(second)
            changes = [(name, new[name] - old[name]) for name in new]
            return ", ".join(f"{name} {change:+.3f}" for name, change in changes if abs(change) > self.epsilon)
        shown: tuple[tuple[str, Callable[[Terms], float]], ...] = (
            ("no_deadlock", lambda t: t.no_deadlock),
            ("throughput", lambda t: t.throughput),
            ("meal_variance", lambda t: t.meal_variance),
            ("starved", lambda t: t.starved),
            ("rounds played", lambda t: float(t.played)),
        )
        pairs = [(name, term(first), term(second)) for name, term in shown]
        return ", ".join(f"{name} {old:.3g} to {new:.3g}" for name, old, new in pairs if abs(new - old) > EPSILON)


def _eating_rounds(rounds: int, setting: Setting) -> int:
    return rounds if setting.deadlock is None else setting.deadlock - 1


@lru_cache(maxsize=4096)
def most_meals(n: int, rounds: int) -> int:
    """The most meals in some number of rounds; 0 for none."""
    return best_meals(n, rounds).meals if rounds > 0 else 0


def even(meals: int, n: int, fed: int | None = None) -> Meals:
    """The most even split of some meals over the first `fed` of n seats, the larger shares first."""
    seats = n if fed is None else fed
    each, more = divmod(meals, seats)
    return (each + 1,) * more + (each,) * (seats - more) + (0,) * (n - seats)


def extremes(probe: Probe) -> tuple[float, float]:
    """The lowest and highest reward over extreme allocations: none, one meal, the most meals evenly, and hogs."""
    n, last = probe.n, Setting(deadlock=probe.rounds)
    ways = [(setting, (0,) * n) for setting in (*QUARTERS, Setting(deadlock=1), last)]
    for base in QUARTERS:
        for setting in (base, in_deadlock(base, probe.rounds)):
            most, cap = probe.most(setting), probe.cap(setting)
            ways += [(setting, even(total, n)) for total in (1, most // 2, most)]
            ways += [(setting, hogs(min(most, full * cap), n, cap)) for full in range(1, n + 1)]
    rewards = [probe.reward(meals, setting) for setting, meals in ways]
    return min(rewards), max(rewards)


def hogs(meals: int, n: int, cap: int) -> Meals:
    """The least even split of some meals: each seat in order eats as much as it can."""
    full, rest = divmod(meals, cap) if cap else (0, 0)
    return (cap,) * full + ((rest,) + (0,) * (n - full - 1) if full < n else ())
