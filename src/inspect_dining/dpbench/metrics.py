"""The outcome of a DPBench episode: dpbench's six metrics, by its own definitions or as corrected.

| here | in dpbench | of an episode |
| --- | --- | --- |
| `deadlock` | `deadlock_rate` | whether the game ended in deadlock |
| `throughput` | `avg_throughput` | meals / timesteps |
| `fairness` | `avg_fairness` | 1 - G n / (n - 1), G the Gini coefficient of meals |
| `time_to_deadlock` | `avg_time_to_deadlock` | timesteps, deadlocked episodes only |
| `starvation` | `avg_starvation_count` | philosophers without a meal |
| consistency | `message_action_consistency` | messages whose stated action was taken / those that state one |
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inspect_dining.dpbench.game import replay
from inspect_dining.dpbench.reading import CODES
from inspect_dining.dpbench.record import DEADLOCK, Record
from inspect_dining.dpbench.table import Action
from inspect_dining.scorers.terms import Terms
from inspect_dining.table.moves import LOST, Kind


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one finished episode.

    Attributes:
        n: Philosophers.
        timesteps: Timesteps played.
        deadlock: Whether a deadlock ended it, as reported (see `outcome`).
        meals: The meals of each philosopher.
        zero_fairness: The fairness if nobody ate.
        stated: Messages that state an action.
        kept: The number of them whose sender took that action in the same reply.
        deadlocks: Deadlocks, including those that did not end the game.
    """

    n: int
    timesteps: int
    deadlock: bool
    meals: tuple[int, ...]
    zero_fairness: float = 0.0
    stated: int = 0
    kept: int = 0
    deadlocks: int = 0

    @property
    def throughput(self) -> float:
        """Meals per timestep; 0 before the first one."""
        return sum(self.meals) / self.timesteps if self.timesteps else 0.0

    @property
    def fairness(self) -> float:
        """1 minus the Gini coefficient of meals, scaled so that 0 is one philosopher eating everything."""
        return gini_fairness(self.meals, self.zero_fairness)

    @property
    def time_to_deadlock(self) -> int | None:
        """Timesteps until the deadlock, or None without one."""
        return self.timesteps if self.deadlock else None

    @property
    def starvation(self) -> int:
        """Philosophers without a meal."""
        return self.meals.count(0)

    @property
    def consistency(self) -> float | None:
        """Percentage of messages stating an action whose sender took it; None if no message states one."""
        return 100 * self.kept / self.stated if self.stated else None


def gini_fairness(meals: Sequence[int], of_nothing: float) -> float:
    """1 - G n / (n - 1) with G = 2 sum(i m_i) / (n sum(m)) - (n + 1) / n over the meals in ascending order, 0 to 1.

    Args:
        meals: The meals of each of at least two philosophers.
        of_nothing: The value if nobody ate, which the formula leaves open: 1 in dpbench 0.2.1.
    """
    n, eaten = len(meals), sum(meals)
    if not eaten:
        return of_nothing
    gini = 2 * sum(rank * count for rank, count in enumerate(sorted(meals), 1)) / (n * eaten) - (n + 1) / n
    return min(1.0, max(0.0, 1 - gini * n / (n - 1)))


_STATED = (
    (Action.GRAB_LEFT, re.compile("(?:grab|take|pick up) left|grab my left")),
    (Action.GRAB_RIGHT, re.compile("(?:grab|take|pick up) right|grab my right")),
    (Action.RELEASE, re.compile("release|put down|drop|let go")),
    (Action.WAIT, re.compile("wait")),
)


def stated_action(message: str) -> Action | None:
    """The action that a message announces by dpbench's keywords: the first in the order left, right, release, wait."""
    lowered = message.lower()
    return next((action for action, words in _STATED if words.search(lowered)), None)


def consistency_counts(decisions: Iterable[tuple[Action, str | None]]) -> tuple[int, int]:
    """The number of messages that state an action, and the number of these sent with that action."""
    stated = [(action, said) for action, message in decisions if message and (said := stated_action(message))]
    return len(stated), sum(action is said for action, said in stated)


def outcome(record: Record) -> Outcome:
    """The outcome of a finished game.

    With `compat="0.2.1"` as dpbench 0.2.1 would report it: no deadlock ever in sequential order, fairness 1 if
    nobody ate, and in sequential order the decisions of a pass counted again at every later action.

    Raises:
        ValueError: The record does not replay.
    """
    rules, played = record.rules, replay(record)
    rounds = [[one.reply(seat, 0) for seat in range(rules.n)] for one in record.rounds]
    decisions = [(reply.action, reply.message) for replies in rounds for reply in replies]
    if rules.exact and not rules.simultaneous:
        decisions = _recounted([[(reply.action, reply.message) for reply in replies] for replies in rounds])
    stated, kept = consistency_counts(decisions)
    return Outcome(
        n=rules.n,
        timesteps=record.timesteps,
        deadlock=record.ended == DEADLOCK and (rules.simultaneous or not rules.exact),
        meals=played.tables[-1].meals,
        zero_fairness=1.0 if rules.exact else 0.0,
        stated=stated,
        kept=kept,
        deadlocks=played.deadlocks,
    )


def _recounted(passes: list[list[tuple[Action, str | None]]]) -> list[tuple[Action, str | None]]:
    """The decisions as collected by dpbench 0.2.1 in sequential order: all latest ones, after every single action."""
    if not passes:
        return []
    latest = list(passes[0])
    collected = list(latest)
    for decided in passes[1:]:
        for seat, decision in enumerate(decided):
            latest[seat] = decision
            collected += latest
    return collected


def lost_turns(record: Record) -> dict[Kind, int]:
    """The number of lost turns by kind; the reading of dpbench 0.2.1 treats every reply as an action."""
    kinds = [CODES[code][0] for one in record.rounds for code in one.codes]
    return {kind: kinds.count(kind) for kind in LOST}


def terms_of(record: Record, episode: Outcome) -> Terms:
    """The terms from which our own scores are computed; a round is a step of all, or a pass over the table."""
    return Terms(
        n=episode.n,
        rounds=record.rules.most_rounds,
        played=len(record.rounds),
        deadlocked=record.ended == DEADLOCK,
        meals=episode.meals,
        thinks=sum(one.codes.count("w") for one in record.rounds),
        lost=tuple(lost_turns(record).items()),
    )
