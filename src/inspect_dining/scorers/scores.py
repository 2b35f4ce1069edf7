"""The Inspect scorers of the catalogue, all computed from the record in a sample's store.

A cut game, or one without a record, is unscored and counted as such; only a game that ended is scored.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from math import isfinite

from inspect_ai.scorer import Metric, Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from inspect_dining.scorers.catalogue import FAULT_SCORES, SCORES
from inspect_dining.scorers.metrics import convergence, per_size, pooled, survival
from inspect_dining.scorers.shaping import Shaping, Throughput, Variance
from inspect_dining.scorers.shaping import shaping as shaping_named
from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.table.narration import account
from inspect_dining.table.record import RECORD, Record, ending

DECIMALS = 4
"""Decimals of the scores in a log; the record gives them exactly."""


def _per_size(name: str) -> Metric:
    """The metric by table size, with the interval that suits the range of a score."""
    score = SCORES[name]
    return per_size(
        share=score.share,
        least=score.least if isfinite(score.least) else None,
        most=score.most if isfinite(score.most) else None,
        of_meals=score.of_meals,
    )


def _scorer(
    value: Callable[[Terms], float],
    explain: Callable[[Terms, float], str],
    *,
    opening: bool = False,
    narrated: bool = False,
) -> Scorer:
    """A scorer of one number, explained in a sentence.

    With `opening`, its metadata hold what the metrics of deadlock and of the first round need. With `narrated`, the
    account of the game follows the sentence; one of the ten scores carries it.
    """

    async def score(state: TaskState, target: Target) -> Score:
        data = state.store.get(RECORD)
        if data is None:
            return Score.unscored(reason="no record", explanation="No round was played.")
        record = Record.from_dict(data)
        if not record.complete:
            return Score.unscored(reason=record.ended, explanation=account(record) if narrated else ending(record))
        episode = terms(record)
        number = value(episode)
        about: dict[str, object] = {"n": episode.n, "record": digest(record)}
        if opening:
            about |= {
                "rounds": episode.rounds,
                "played": episode.played,
                "deadlocked": episode.deadlocked,
                "first_round": record.rounds[0],
            }
        return Score(
            value=round(number, DECIMALS),
            answer=f"meals {'/'.join(map(str, episode.meals))}",
            explanation=explain(episode, number) + (f"\n\n{account(record)}" if narrated else ""),
            metadata=about,
        )

    return score


def _catalogued(name: str, *, opening: bool = False, narrated: bool = False) -> Scorer:
    """The scorer of an entry of the catalogue with its own formula and explanation."""
    score = SCORES[name]
    assert score.value is not None, name
    assert score.explain is not None, name
    return _scorer(score.value, score.explain, opening=opening, narrated=narrated)


def digest(record: Record) -> str:
    """16 hex digits of what happened, without the seed: two identical games are one observation."""
    return sha256("/".join((*record.rounds, *record.hashes)).encode()).hexdigest()[:16]


@scorer(metrics=[pooled(), _per_size("efficiency")])
def efficiency() -> Scorer:
    """Meals as a share of the most that any play eats."""
    return _catalogued("efficiency", narrated=True)


@scorer(metrics=[_per_size("no_deadlock"), survival(), convergence()])
def no_deadlock() -> Scorer:
    """1 if the episode did not deadlock, else 0."""
    return _catalogued("no_deadlock", opening=True)


@scorer(metrics=[_per_size("reward")])
def reward(
    shaping: str = "paper",
    weights: Sequence[float] | None = None,
    throughput: Throughput = "seat_rounds",
    variance: Variance = "population",
) -> Scorer:
    """The reward of the chosen shaping; the arguments are those of `scorers.shaping.shaping`."""
    return _shaped(shaping_named(shaping, weights=weights, throughput=throughput, variance=variance))


@scorer(metrics=[_per_size("proportional")])
def proportional() -> Scorer:
    """Our shaping: smoothed proportional fairness, at most 1."""
    return _shaped(shaping_named("proportional"))


def _shaped(shaping: Shaping) -> Scorer:
    def explain(t: Terms, value: float) -> str:
        parts = shaping.parts(t) if shaping.parts else {}
        # adding zero turns -0.0 into 0.0
        summands = " ".join(f"{part + 0.0:+.4f} ({name})" for name, part in parts.items())
        return f"Reward by {shaping.name}{': ' if summands else ''}{summands} = {value:.4f}."

    return _scorer(shaping, explain)


@scorer(metrics=[_per_size("throughput")])
def throughput() -> Scorer:
    """Meals per seat and round of the horizon, also where the episode ended early."""
    return _catalogued("throughput")


@scorer(metrics=[_per_size("meal_variance")])
def meal_variance() -> Scorer:
    """Population variance of meals over seats."""
    return _catalogued("meal_variance")


@scorer(metrics=[_per_size("jain")])
def jain() -> Scorer:
    """Jain's index of meals; 0 if nobody ate."""
    return _catalogued("jain")


@scorer(metrics=[_per_size("starved")])
def starved() -> Scorer:
    """Share of seats without a meal."""
    return _catalogued("starved")


@scorer(metrics=[_per_size("idle")])
def idle() -> Scorer:
    """Share of `think` among the turns that acted; 0 if none acted."""
    return _catalogued("idle")


@scorer(metrics=[pooled(), _per_size("lost_turns")])
def lost_turns() -> Scorer:
    """Share of turns that did not act."""
    return _catalogued("lost_turns")


def _under_faults(name: str) -> Scorer:
    """The scorer of an entry of `FAULT_SCORES`; unscored if the game has nothing to measure."""
    definition = FAULT_SCORES[name]

    async def score(state: TaskState, target: Target) -> Score:
        data = state.store.get(RECORD)
        if data is None:
            return Score.unscored(reason="no record", explanation="No round was played.")
        record = Record.from_dict(data)
        if not record.complete:
            return Score.unscored(reason=record.ended, explanation=ending(record))
        found = terms(record).survivors
        value = None if found is None else definition.value(found)
        if found is None or value is None:
            return Score.unscored(reason="no fault", explanation="No fault began, or nobody could have eaten.")
        about: dict[str, object] = {"n": record.rules.n, "record": digest(record)}
        return Score(value=round(value, DECIMALS), explanation=definition.explain(found), metadata=about)

    return score


@scorer(metrics=[pooled(), per_size(least=0, most=1)])
def survivors_efficiency() -> Scorer:
    """Meals of the seats without a fault as a share of the most that they could have eaten."""
    return _under_faults("survivors_efficiency")


@scorer(metrics=[per_size(least=0)])
def failure_locality() -> Scorer:
    """The farthest distance from a fault at which a seat had no further meal; 0 if all ate."""
    return _under_faults("failure_locality")


@scorer(metrics=[per_size(least=0)])
def rounds_to_meal() -> Scorer:
    """Rounds from the fault to a seat's next meal, its own round included; the horizon if it had no further meal."""
    return _under_faults("rounds_to_meal")


def scorers_under_faults() -> list[Scorer]:
    """The additional scorers of a run with faults."""
    return [survivors_efficiency(), failure_locality(), rounds_to_meal()]


def scorers_in_order(rewarding: Scorer) -> list[Scorer]:
    """All scorers in the order of the catalogue.

    Args:
        rewarding: The scorer of `reward`, chosen by the run.
    """
    made = {
        "efficiency": efficiency,
        "no_deadlock": no_deadlock,
        "reward": lambda: rewarding,
        "proportional": proportional,
        "throughput": throughput,
        "meal_variance": meal_variance,
        "jain": jain,
        "starved": starved,
        "idle": idle,
        "lost_turns": lost_turns,
    }
    return [made[name]() for name in SCORES]
