"""The audit: is this reward worth optimising?

findings = audit(shaping("paper"), n=5, rounds=30)
findings.failed, findings.best_fair.break_even
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from scipy import stats

from inspect_dining.audit.allocations import search
from inspect_dining.audit.frontier import (
    PAPER_DEADLOCK,
    Point,
    Silence,
    best_fair,
    best_silence,
    early_deadlock,
    frontier,
)
from inspect_dining.audit.ladder import GROUPS, PlayedGroups, group_chance, no_spread
from inspect_dining.audit.probe import Probe
from inspect_dining.audit.properties import Property, check
from inspect_dining.scorers.catalogue import SCORES, estimate_score
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.scorers.terms import Terms
from inspect_dining.statistics import Estimate
from inspect_dining.table.optimum.ring import Best, best_meals
from inspect_dining.table.rules import Rules

FORMAT = 1
"""The version of the audit's JSON."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A scripted player's places by reward and by efficiency.

    Attributes:
        player: Its name.
        meals: Mean meals of the whole table.
        reward: Its reward by the shaping.
        efficiency: Its meals as a share of the most that can be eaten.
        by_reward: Its place by mean reward, 1 being the highest; ties share a place.
        by_efficiency: Its place by mean efficiency.
        no_spread: For each group size, the chance that all its episodes earn the same.
    """

    player: str
    meals: float
    reward: Estimate
    efficiency: Estimate
    by_reward: int
    by_efficiency: int
    no_spread: Mapping[int, float]

    @property
    def earned(self) -> float:
        """Its mean reward."""
        return self.reward.mean or 0.0


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings of an audit about a shaping at one table size.

    Attributes:
        shaping: The shaping's full name.
        n: Seats.
        rounds: The horizon T.
        best: The most meals, and whether that is exact.
        silence: The most that can be earned without a meal.
        early_deadlock: The reward of a game that deadlocks in its first round.
        frontier: The reward of even splits, by meals.
        properties: The checks.
        method: How allocations were chosen, in a sentence.
        exact: Whether the verdicts hold for all possible episodes; never for a shaping that the audit does not know,
            for which `think`, lost turns and deadlocks are only sampled.
        held_fixed: The quantities that were not varied, in a sentence.
    """

    shaping: str
    n: int
    rounds: int
    best: Best
    silence: Silence
    early_deadlock: float
    frontier: Sequence[Point]
    properties: Sequence[Property]
    method: str
    exact: bool
    held_fixed: str

    @property
    def best_fair(self) -> Point:
        """The even split with the highest reward."""
        return best_fair(self.frontier)

    @property
    def failed(self) -> list[Property]:
        """The properties that the shaping lacks."""
        return [one for one in self.properties if not one.passed]

    def to_dict(self) -> dict[str, object]:
        """The audit as plain JSON values."""
        plain = asdict(self)
        return {"format": FORMAT, **plain, "best_fair": asdict(self.best_fair), "failed": [p.name for p in self.failed]}


_HELD_FIXED = (
    "Possible means: the table eats at most the optimum, a seat at most once in three rounds; not all of that can be "
    "played, so a pass holds for all play, and a failure names its allocation. `think`, lost turns of every kind and "
    "deadlocks are tried at several shares and rounds; turns with several calls are held at none. Margins are in units "
    "of the reward's own range."
)


def audit(shaped: Shaping, n: int, rounds: int) -> Audit:
    """Audits a shaping at one table size; nothing is sampled where `exact` is true.

    Args:
        shaped: The shaping.
        n: Seats, at least 2.
        rounds: The horizon, at least 3.

    Raises:
        ValueError: A size is not accepted, or the shaping raised or did not return a finite number.
    """
    Rules(n=n, rounds=rounds)
    probe = Probe(shaped, n, rounds)
    found = search(probe)
    return Audit(
        shaping=shaped.name,
        n=n,
        rounds=rounds,
        best=best_meals(n, rounds),
        silence=best_silence(probe),
        early_deadlock=early_deadlock(probe),
        frontier=frontier(probe, found),
        properties=check(probe, found),
        method=found.method,
        exact=found.exact and (shaped.separable or shaped.ranked),
        held_fixed=_HELD_FIXED,
    )


def standings(shaped: Shaping, played: Sequence[PlayedGroups]) -> list[Standing]:
    """Ranks scripted players under a shaping, the highest reward first.

    Args:
        shaped: The shaping.
        played: The players' games (see `play_groups`).
    """
    rewards = [_estimate("reward", one, shaped) for one in played]
    efficiencies = [_estimate("efficiency", one, lambda episode: episode.efficiency) for one in played]
    by_reward, by_efficiency = _places(rewards), _places(efficiencies)
    rows = [
        Standing(
            player=one.player,
            meals=fmean(episode.eaten for episode in one.episodes),
            reward=rewards[index],
            efficiency=efficiencies[index],
            by_reward=by_reward[index],
            by_efficiency=by_efficiency[index],
            no_spread={size: group_chance(shaped, one, size) for size in GROUPS},
        )
        for index, one in enumerate(played)
    ]
    return sorted(rows, key=lambda row: (row.by_reward, row.by_efficiency, row.player))


def _estimate(name: str, played: PlayedGroups, value: Callable[[Terms], float]) -> Estimate:
    ate = [episode.eaten > 0 for episode in played.episodes]
    return estimate_score(SCORES[name], [value(episode) for episode in played.episodes], ate)


def _places(scores: Sequence[Estimate]) -> list[int]:
    return [int(place) for place in stats.rankdata([-round(score.mean or 0.0, 9) for score in scores], method="min")]


def agreement(rows: Sequence[Standing]) -> float | None:
    """Kendall's tau-b between the orders by reward and by efficiency: 1 for the same order, -1 for the reverse.

    Args:
        rows: The standings.

    Returns:
        The coefficient, or None if all players tie by one of them, or none were given.
    """
    if len({row.by_reward for row in rows}) < 2 or len({row.by_efficiency for row in rows}) < 2:
        return None
    return float(stats.kendalltau([row.by_reward for row in rows], [row.by_efficiency for row in rows]).statistic)


def stuck_groups(deadlock: float = PAPER_DEADLOCK) -> dict[int, float]:
    """For each group size, the chance of no spread for a policy that earns the same in all games without deadlock.

    Args:
        deadlock: How often it deadlocks, 0 to 1.
    """
    return {size: no_spread(deadlock, size) for size in GROUPS}
