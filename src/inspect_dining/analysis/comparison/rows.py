"""Summaries of one model's episodes at one table size: the rows of a comparison."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from inspect_dining.analysis.inputs.episodes import Account, Episode, Player, Status
from inspect_dining.audit.ladder import games, players_on
from inspect_dining.scorers.catalogue import FAULT_SCORES, SCORES, compute_scores, estimate_score
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.scorers.terms import Terms
from inspect_dining.statistics import Estimate, estimate
from inspect_dining.table.moves import LOST, READINGS, Action, Kind
from inspect_dining.table.rules import Rules

SURVIVAL_ROUNDS = (5, 12)
"""The rounds at which survival is reported, in addition to the horizon."""

_LONGEST = 80
"""The maximum characters of a reason that are shown."""


@dataclass(frozen=True, slots=True)
class Counts(Account):
    """The fate of the planned episodes: how many are scored, cut, errored and not played.

    Attributes:
        distinct: How many of the scored ones differ in more than their seed.
    """

    distinct: int


@dataclass(frozen=True, slots=True)
class FirstRound:
    """How often all seats lock the table in the first round, compared with seats that choose independently.

    Attributes:
        locked: Share of episodes in which every seat held one fork after round 1.
        left: Share of all first turns that picked up left.
        right: Share of all first turns that picked up right.
        independent: The expected value for independent seats with these shares: left^n + right^n.
    """

    locked: Estimate
    left: float
    right: float
    independent: float


@dataclass(frozen=True, slots=True)
class Spent:
    """The tokens and cost of the scored episodes.

    Attributes:
        tokens: Tokens of all model calls.
        tokens_per_meal: Tokens per meal, or None if nobody ate.
        cost: Their cost, or None if the log does not give it for every call.
        cost_per_meal: Cost per meal, or None if either is not known.
        tokens_by_seat: The tokens of each seat.
    """

    tokens: int
    tokens_per_meal: float | None
    cost: float | None
    cost_per_meal: float | None
    tokens_by_seat: Sequence[int]


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of some scored episodes.

    Attributes:
        estimates: The mean and interval of every score by name; `reward` is missing if its shaping is not known.
        values: For each score, the value of every episode.
        games: The game of each episode, which its epochs share.
        survival: For rounds 5, 12 and T, the share of episodes not deadlocked by then.
        curve: The share of episodes not deadlocked after round 0, 1, ..., T.
        lost: Turns lost, by kind.
        turns: Turns taken.
        meals: Meals of all episodes.
        seats: For each seat, its mean meals and interval.
    """

    estimates: Mapping[str, Estimate]
    values: Mapping[str, Sequence[float]]
    games: Sequence[Hashable]
    survival: Mapping[int, Estimate]
    curve: Sequence[float]
    lost: Mapping[Kind, int]
    turns: int
    meals: int
    seats: Sequence[Estimate]


@dataclass(frozen=True, slots=True)
class BesideFaults:
    """The results of the seats without a fault, over the episodes in which they are defined.

    Attributes:
        scores: The mean and interval of every score of `FAULT_SCORES`.
        starved: For each distance from the nearest faulty seat, starting at 1, the share of seats that ate nothing
            after the fault began, with its interval over episodes.
    """

    scores: Mapping[str, Estimate]
    starved: Sequence[Estimate]


def beside_faults(played: Sequence[Terms]) -> BesideFaults | None:
    """The results of the seats without a fault in some episodes, or None if none has faults."""
    found = [episode.survivors for episode in played if episode.survivors is not None]
    if not found:
        return None
    values = {name: [score.value(one) for one in found] for name, score in FAULT_SCORES.items()}
    begun = [one.starved for one in found if one.begun is not None]
    return BesideFaults(
        scores={
            name: estimate([value for value in some if value is not None], least=0) for name, some in values.items()
        },
        starved=[
            estimate([s[place][0] / s[place][1] for s in begun if place < len(s) and s[place][1]], least=0, most=1)
            for place in range(max(map(len, begun), default=0))
        ],
    )


@dataclass(frozen=True, slots=True)
class Row:
    """One model, or one scripted player of the ladder, at one table size.

    Attributes:
        letter: Its short name, used in contrasts; empty for the ladder.
        label: Its name.
        counts: The fate of its planned episodes; None for the ladder.
        summary: The summary of the scored ones.
        player: What was evaluated; None for the ladder.
        first: Its first rounds; None for the ladder, or without a scored episode.
        spent: Tokens and cost; None for the ladder.
        seated: The model of each seat, if some seat has its own model; else empty.
        episodes: Its scored episodes; empty for the ladder.
        unscored: Why the others are not scored, such as `cut: token limit`, and how often.
        beside_faults: The results of the seats without a fault, if the rules have faults; else None.
    """

    letter: str
    label: str
    summary: Summary
    player: Player | None = None
    counts: Counts | None = None
    first: FirstRound | None = None
    spent: Spent | None = None
    seated: Sequence[str] = ()
    episodes: Sequence[Episode] = ()
    unscored: Mapping[str, int] = field(default_factory=dict)
    beside_faults: BesideFaults | None = None


def summarise(
    rules: Rules,
    played: Sequence[Terms],
    values: Mapping[str, Sequence[float]],
    games: Sequence[Hashable] | None = None,
) -> Summary:
    """The means, intervals and counts of some episodes.

    Args:
        rules: The rules, the same for all.
        played: The terms of each episode.
        values: For each score, the value of every episode.
        games: The game of each episode; if None, each episode is a separate game.
    """
    keys = range(len(played)) if games is None else games
    ate = [episode.eaten > 0 for episode in played]
    deaths = Counter(episode.played for episode in played if episode.deadlocked)
    curve, alive = [1.0], len(played)
    for number in range(1, rules.rounds + 1):
        alive -= deaths[number]
        curve.append(alive / len(played) if played else 0.0)
    told = sorted({*(number for number in SURVIVAL_ROUNDS if number < rules.rounds), rules.rounds})
    lost: Counter[Kind] = Counter()
    for episode in played:
        lost.update(dict(episode.lost))
    return Summary(
        estimates={name: estimate_score(SCORES[name], of, ate, keys) for name, of in values.items()},
        values=values,
        games=keys,
        survival={
            number: estimate(
                [float(not (one.deadlocked and one.played <= number)) for one in played],
                keys,
                share=True,
                least=0,
                most=1,
            )
            for number in told
        },
        curve=curve if played else [],
        lost={kind: lost[kind] for kind in LOST},
        turns=sum(episode.turns for episode in played),
        meals=sum(episode.eaten for episode in played),
        seats=[
            estimate([episode.meals[seat] for episode in played], keys, least=0, ate=ate)
            for seat in range(rules.n if played else 0)
        ],
    )


def model_row(
    letter: str,
    label: str,
    player: Player,
    rules: Rules,
    episodes: Sequence[Episode],
    missing: int,
    shaping: Shaping | None,
) -> Row:
    """The row of one model.

    Args:
        letter: Its short name.
        label: Its name.
        player: What was evaluated.
        rules: The rules of all its episodes.
        episodes: The episodes that left a trace.
        missing: The number of planned episodes that did not.
        shaping: The shaping of `reward`, or None for the run's own.
    """
    scored = [episode for episode in episodes if episode.status is Status.SCORED]
    played = [episode.terms for episode in scored]
    found = [compute_scores(e.terms, shaping) if shaping is not None else e.scores for e in scored]
    names = [name for name in SCORES if all(name in one for one in found)]
    samples = [episode.sample for episode in scored]
    summary = summarise(rules, played, {name: [one[name] for one in found] for name in names}, samples)
    happened = {(e.record.rounds, e.record.hashes) for e in scored if e.record is not None}
    counts = Counts(
        planned=len(episodes) + missing,
        scored=len(scored),
        cut=sum(1 for episode in episodes if episode.status is Status.CUT),
        errored=sum(1 for episode in episodes if episode.status is Status.ERRORED),
        distinct=len(happened),
    )
    roles = dict(player.roles)
    seated = [roles.get(f"seat_{seat}", player.model) for seat in range(rules.n)] if roles else []
    return Row(
        letter=letter,
        label=label,
        summary=summary,
        player=player,
        counts=counts,
        first=_first_round(scored, rules.n),
        spent=_spent(scored, summary.meals, rules.n),
        seated=seated,
        episodes=scored,
        beside_faults=beside_faults(played),
        unscored=Counter(f"{e.status}: {_brief(e.reason)}" for e in episodes if e.status is not Status.SCORED),
    )


def ladder_rows(rules: Rules, shaping: Shaping | None, episodes: int) -> list[Row]:
    """The scores of every scripted player under some rules, the highest mean efficiency first.

    Args:
        rules: The rules.
        shaping: The shaping of `reward`, or None if it is not known.
        episodes: Games per player; 0 plays none.
    """
    rows = []
    for player in players_on(rules) if episodes else ():
        played = games(rules, player, episodes)
        found = [compute_scores(episode, shaping) for episode in played]
        rows.append(
            Row("", player, summarise(rules, played, {name: [one[name] for one in found] for name in found[0]}))
        )
    return sorted(rows, key=lambda row: -(row.summary.estimates["efficiency"].mean or 0.0))


def _brief(reason: str) -> str:
    line = reason.strip().splitlines()[0] if reason.strip() else "no reason given"
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _first_round(scored: Sequence[Episode], n: int) -> FirstRound | None:
    firsts = [episode.record.rounds[0] for episode in scored if episode.record is not None]
    if not firsts:
        return None
    choices = [[READINGS[code].action for code in codes] for codes in firsts]
    locked = [float(set(seats) in ({Action.PICK_UP_LEFT}, {Action.PICK_UP_RIGHT})) for seats in choices]
    turns = len(firsts) * n
    left = sum(seats.count(Action.PICK_UP_LEFT) for seats in choices) / turns
    right = sum(seats.count(Action.PICK_UP_RIGHT) for seats in choices) / turns
    samples = [episode.sample for episode in scored if episode.record is not None]
    return FirstRound(estimate(locked, samples, share=True, least=0, most=1), left, right, left**n + right**n)


def _spent(scored: Sequence[Episode], meals: int, n: int) -> Spent:
    tokens = sum(episode.usage.tokens for episode in scored)
    costs = [episode.usage.cost for episode in scored if episode.usage.cost is not None]
    cost = sum(costs) if scored and len(costs) == len(scored) else None
    return Spent(
        tokens=tokens,
        tokens_per_meal=tokens / meals if meals else None,
        cost=cost,
        cost_per_meal=cost / meals if meals and cost is not None else None,
        tokens_by_seat=[sum(episode.usage.seats[seat] for episode in scored) for seat in range(n)],
    )
