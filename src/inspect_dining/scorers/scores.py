"""The ten Inspect scorers, all read from the record in a sample's store.

A cut game, or one without a record, is unscored and counted as such; only a game that ended is scored.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from inspect_dining.scorers.metrics import convergence, per_size, pooled, survival
from inspect_dining.scorers.shaping import Shaping, Throughput, Variance
from inspect_dining.scorers.shaping import shaping as shaping_named
from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.table.narration import account, ending
from inspect_dining.table.optimum import best_meals
from inspect_dining.table.record import RECORD, Record

DECIMALS = 4
"""Scores are rounded for the reader of a log; the record gives them exactly."""


def _scorer(
    value: Callable[[Terms], float],
    formula: Callable[[Terms, float], str],
    *,
    opening: bool = False,
    tells: bool = False,
) -> Scorer:
    """A scorer of one number, explained in a sentence.

    With `opening` its metadata holds what the metrics of deadlock and of the first round need. With `tells` the account
    of the game stands below the sentence: once among ten scores is enough.
    """

    async def score(state: TaskState, target: Target) -> Score:
        data = state.store.get(RECORD)
        if data is None:
            return Score.unscored(reason="no record", explanation="No round was played.")
        record = Record.from_dict(data)
        if not record.complete:
            return Score.unscored(reason=record.ended, explanation=account(record) if tells else ending(record))
        episode = terms(record)
        number = value(episode)
        about: dict[str, object] = {"n": episode.n, "record": _digest(record)}
        if opening:
            about |= {
                "rounds": episode.rounds,
                "played": episode.played,
                "deadlocked": episode.deadlocked,
                "first_round": record.rounds[0],
            }
        return Score(
            value=round(number, DECIMALS),
            answer="/".join(map(str, episode.meals)),
            explanation=formula(episode, number) + (f"\n\n{account(record)}" if tells else ""),
            metadata=about,
        )

    return score


def _digest(record: Record) -> str:
    """16 hex digits of what happened, the seed left out: two games that went alike are one observation."""
    return sha256("/".join((*record.rounds, *record.hashes)).encode()).hexdigest()[:16]


@scorer(metrics=[per_size(share=True), survival(), convergence()])
def no_deadlock() -> Scorer:
    """1 if the episode did not deadlock, else 0."""
    return _scorer(lambda t: t.no_deadlock, _deadlock, opening=True)


def _deadlock(t: Terms, value: float) -> str:
    return f"{'Deadlock in round' if t.deadlocked else 'No deadlock by round'} {t.played} of {t.rounds} = {value:.0f}."


@scorer(metrics=[per_size(least=0, most=1)])
def throughput() -> Scorer:
    """Meals per seat and round of the horizon, also where the episode ended early."""
    return _scorer(
        lambda t: t.throughput, lambda t, v: f"{t.eaten} meals / ({t.n} seats x {t.rounds} rounds) = {v:.4f}."
    )


@scorer(metrics=[per_size(least=0)])
def meal_variance() -> Scorer:
    """Population variance of meals over seats."""
    return _scorer(lambda t: t.meal_variance, lambda t, v: f"Variance of meals over {t.n} seats = {v:.4f}.")


@scorer(metrics=[per_size(least=0, most=1)])
def idle() -> Scorer:
    """Share of `think` among the turns that acted; 0 where none acted."""
    return _scorer(
        lambda t: t.idle, lambda t, v: f"{t.thinks} `think` / {t.turns - t.lost_count} turns that acted = {v:.4f}."
    )


@scorer(metrics=[per_size()])
def reward(
    shaping: str = "paper",
    weights: Sequence[float] | None = None,
    throughput: Throughput = "seat_rounds",
    variance: Variance = "population",
) -> Scorer:
    """The reward of the shaping asked for; its arguments are those of `scorers.shaping.shaping`."""
    return _shaped(shaping_named(shaping, weights=weights, throughput=throughput, variance=variance))


@scorer(metrics=[per_size(most=1)])
def proportional() -> Scorer:
    """Our shaping: smoothed proportional fairness, at most 1."""
    return _shaped(shaping_named("proportional"))


def _shaped(shaping: Shaping) -> Scorer:
    def formula(t: Terms, value: float) -> str:
        parts = shaping.parts(t) if shaping.parts else {}
        # adding zero turns -0.0 into 0.0
        told = " ".join(f"{part + 0.0:+.4f} ({name})" for name, part in parts.items())
        return f"Reward by {shaping.name}{': ' if told else ''}{told} = {value:.4f}."

    return _scorer(shaping, formula)


@scorer(metrics=[pooled(), per_size(least=0, most=1)])
def efficiency() -> Scorer:
    """Meals as a share of the most that any play eats."""
    return _scorer(lambda t: t.efficiency, _efficiency, tells=True)


def _efficiency(t: Terms, value: float) -> str:
    best = best_meals(t.n, t.rounds)
    what = "the most that can be eaten" if best.exact else "an upper bound of what can be eaten"
    return f"{t.eaten} meals / {best.meals} ({what}) = {value:.4f}."


@scorer(metrics=[per_size(least=0, most=1)])
def jain() -> Scorer:
    """Jain's index of meals; 0 where nobody ate."""
    return _scorer(lambda t: t.jain, lambda t, v: f"Jain's index of meals = {v:.4f}.")


@scorer(metrics=[per_size(least=0, most=1)])
def starved() -> Scorer:
    """Share of seats without a meal."""
    return _scorer(lambda t: t.starved, lambda t, v: f"{t.meals.count(0)} of {t.n} seats ate nothing = {v:.4f}.")


@scorer(metrics=[pooled(), per_size(least=0, most=1)])
def lost_turns() -> Scorer:
    """Share of turns that did not act."""
    return _scorer(lambda t: t.lost_turns, _lost)


def _lost(t: Terms, value: float) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in t.lost if count) or "none"
    several = f" In {t.several} turns more than one call came, and the first acted." if t.several else ""
    return f"{t.lost_count} of {t.turns} turns did not act ({kinds}) = {value:.4f}.{several}"
