"""The Inspect scorers of DPBench's game: its six metrics and ours, all computed from the record.

A cut game, or one without a record, is unscored. An episode to which a metric does not apply (no deadlock, no message)
is unscored under it and counted as such; it is neither 0 nor 1.
"""

from collections import defaultdict
from collections.abc import Callable
from hashlib import sha256
from math import inf

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from inspect_dining.dpbench.metrics import Outcome, lost_turns, outcome, terms_of
from inspect_dining.dpbench.narration import account, ending
from inspect_dining.dpbench.record import DPBENCH_RECORD, Record
from inspect_dining.statistics import estimate
from inspect_dining.table.optimum.ring import best_meals

DECIMALS = 4
"""Decimals of the scores in a log; the record gives them exactly."""
Value = Callable[[Record, Outcome], float | None]


def _scorer(value: Value, formula: Callable[[Record, Outcome], str], *, tells: bool = False) -> Scorer:
    """A scorer of one number, explained in a sentence; with `tells`, the account of the game follows it."""

    async def score(state: TaskState, target: Target) -> Score:
        data = state.store.get(DPBENCH_RECORD)
        if data is None:
            return Score.unscored(reason="no record", explanation="No round was played.")
        record = Record.from_dict(data)
        if not record.complete:
            return Score.unscored(reason=record.ended, explanation=account(record) if tells else ending(record))
        episode = outcome(record)
        number = value(record, episode)
        answer = "/".join(map(str, episode.meals))
        explanation = formula(record, episode) + (f"\n\n{account(record)}" if tells else "")
        if number is None:
            return Score.unscored(reason="does not apply", explanation=explanation)
        about = {
            "condition": str(state.metadata.get("condition", record.rules.options())),
            "record": _digest(record),
            "stated": episode.stated,
            "kept": episode.kept,
        }
        return Score(value=round(number, DECIMALS), answer=answer, explanation=explanation, metadata=about)

    return score


def _digest(record: Record) -> str:
    """16 hex digits of what happened, without the seed."""
    return sha256(str(record.rounds).encode()).hexdigest()[:16]


@metric(name="per_condition", scores="unreduced")
def per_condition(share: bool = False, least: float = -inf, most: float = inf) -> Metric:
    """For each condition: the mean, its 95% interval over games, the number of episodes, and of distinct records.

    The interval is left out where it would not be valid (see `statistics.estimate`). The epochs of a game count as one.

    Args:
        share: The score is 0 or 1, so that the interval is Wilson's if no game is repeated.
        least: The least possible score; no interval goes below it.
        most: The largest possible score.

    Returns:
        A metric with the keys `sim5nc`, `sim5nc_low`, `sim5nc_high`, `sim5nc_episodes` and `sim5nc_distinct`.
    """

    def per_condition_of(scores: list[SampleScore]) -> dict[str, float]:
        metrics: dict[str, float] = {}
        for name, episodes in _by_condition(scores):
            found = estimate(
                [episode.score.as_float() for episode in episodes],
                [place if episode.sample_id is None else episode.sample_id for place, episode in enumerate(episodes)],
                share=share,
                least=least,
                most=most,
            )
            metrics[name] = found.mean or 0.0
            if found.interval is not None:
                metrics[f"{name}_low"], metrics[f"{name}_high"] = found.interval.low, found.interval.high
            metrics[f"{name}_episodes"] = len(episodes)
            metrics[f"{name}_distinct"] = len({(episode.score.metadata or {})["record"] for episode in episodes})
        return metrics

    return per_condition_of


def _by_condition(scores: list[SampleScore]) -> list[tuple[str, list[SampleScore]]]:
    """The episodes of each condition; a dot in its name would split the name of a metric."""
    groups: defaultdict[str, list[SampleScore]] = defaultdict(list)
    for score in scores:
        groups[str((score.score.metadata or {})["condition"]).replace(".", "_")].append(score)
    return list(groups.items())


@metric(name="pooled_messages", scores="unreduced")
def pooled_messages() -> Metric:
    """For each condition, the consistency over the messages of all episodes, as dpbench computes it, and their number.

    Returns:
        A metric with the keys `sim5c_pooled` (percent) and `sim5c_messages`.
    """

    def pooled_messages_of(scores: list[SampleScore]) -> dict[str, float]:
        metrics: dict[str, float] = {}
        for name, episodes in _by_condition(scores):
            about = [episode.score.metadata or {} for episode in episodes]
            stated, kept = sum(int(one["stated"]) for one in about), sum(int(one["kept"]) for one in about)
            if stated:
                metrics[f"{name}_pooled"], metrics[f"{name}_messages"] = 100 * kept / stated, stated
        return metrics

    return pooled_messages_of


@scorer(metrics=[per_condition(share=True)])
def deadlock() -> Scorer:
    """DPBench's deadlock rate: 1 if the game ended in deadlock, else 0."""
    return _scorer(lambda r, o: float(o.deadlock), lambda r, o: ending(r), tells=True)


@scorer(metrics=[per_condition(least=0)])
def meals_per_timestep() -> Scorer:
    """DPBench's throughput: meals / timesteps played."""
    return _scorer(
        lambda r, o: o.throughput,
        lambda r, o: f"{sum(o.meals)} meals / {o.timesteps} timesteps = {o.throughput:.4f}.",
    )


@scorer(metrics=[per_condition(least=0, most=1)])
def gini_fairness() -> Scorer:
    """DPBench's fairness: 1 - G n / (n - 1); if nobody ate, 0, or 1 as in dpbench 0.2.1."""
    return _scorer(lambda r, o: o.fairness, lambda r, o: f"1 minus the scaled Gini coefficient = {o.fairness:.4f}.")


@scorer(metrics=[per_condition(least=0)])
def time_to_deadlock() -> Scorer:
    """DPBench's time to deadlock: timesteps, deadlocked episodes only."""
    return _scorer(
        lambda r, o: o.time_to_deadlock,
        lambda r, o: f"Deadlock at timestep {o.timesteps}." if o.deadlock else "No deadlock is reported.",
    )


@scorer(metrics=[per_condition(least=0)])
def starvation() -> Scorer:
    """DPBench's starvation count: philosophers without a meal."""
    return _scorer(lambda r, o: float(o.starvation), lambda r, o: f"{o.starvation} of {o.n} philosophers ate nothing.")


@scorer(metrics=[per_condition(least=0, most=100), pooled_messages()])
def message_action_consistency() -> Scorer:
    """DPBench's message-action consistency, in percent: messages stating an action whose sender took it."""
    return _scorer(
        lambda r, o: o.consistency,
        lambda r, o: f"{o.kept} of {o.stated} messages that state an action came with it.",
    )


@scorer(metrics=[per_condition(least=0, most=1)])
def optimum_share() -> Scorer:
    """Meals as a share of the most that any play of the corrected simultaneous game eats; unscored for other rules.

    In that game a meal counts one step earlier than in the dining philosophers and costs the same three steps of both
    forks, so the most meals in T timesteps are those of that game in T + 1 rounds.
    """
    return _scorer(_optimum_share, _optimum_words)


def _optimum_share(record: Record, episode: Outcome) -> float | None:
    rules = record.rules
    if rules.exact or not rules.simultaneous or rules.timesteps < 2:
        return None
    return sum(episode.meals) / best_meals(rules.n, rules.timesteps + 1).meals


def _optimum_words(record: Record, episode: Outcome) -> str:
    share = _optimum_share(record, episode)
    if share is None:
        return "The most meals are known for the corrected simultaneous game only."
    best = best_meals(record.rules.n, record.rules.timesteps + 1)
    what = "the most that can be eaten" if best.exact else "an upper bound of what can be eaten"
    return f"{sum(episode.meals)} meals / {best.meals} ({what}) = {share:.4f}."


@scorer(metrics=[per_condition(least=0, most=1)])
def meals_per_turn() -> Scorer:
    """Meals / turns up to the horizon: our throughput, which compares across orders."""
    return _scorer(
        lambda r, o: terms_of(r, o).throughput,
        lambda r, o: (
            f"{sum(o.meals)} meals / ({o.n} seats x {r.rules.most_rounds} rounds) = {terms_of(r, o).throughput:.4f}."
        ),
    )


@scorer(metrics=[per_condition(least=0, most=1)])
def jain_of_meals() -> Scorer:
    """Jain's index of the meals; 0 if nobody ate."""
    return _scorer(lambda r, o: terms_of(r, o).jain, lambda r, o: f"Jain's index of meals = {terms_of(r, o).jain:.4f}.")


@scorer(metrics=[per_condition(least=0, most=1)])
def lost_replies() -> Scorer:
    """Share of turns whose reply named no action; the reading of dpbench 0.2.1 treats every reply as an action."""
    return _scorer(_lost_share, lambda r, o: f"{_lost_words(r)} = {_lost_share(r, o):.4f}.")


def _lost_share(record: Record, episode: Outcome) -> float:
    return terms_of(record, episode).lost_turns


def _lost_words(record: Record) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in lost_turns(record).items() if count) or "none"
    return f"Lost turns ({kinds}) / {len(record.rounds) * record.rules.n} turns"
