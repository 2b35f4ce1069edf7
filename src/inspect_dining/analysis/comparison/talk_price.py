"""The price of talk: the cost of messages, their gain over silent play, and whether seats do what they announce.

Runs of one player that differ only in talk are arms of one comparison: silent play, talk, and the placebo, which
separates talking from merely having a longer prompt. Calls are those that the games took, counted from the records;
tokens are the provider's, including those of a placebo's other game.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from inspect_dining.analysis.comparison.compare import labels_of
from inspect_dining.analysis.inputs.collection import Collection
from inspect_dining.analysis.inputs.episodes import Episode, Status
from inspect_dining.table.game import retrace
from inspect_dining.table.players.talkers import announced
from inspect_dining.table.record import Record

_TALK = ("talk", "talk_control")


@dataclass(frozen=True, slots=True)
class Arm:
    """One player's games at one n with one amount of talk.

    Attributes:
        player: The player's label.
        n: Seats.
        prompt: The name of the prompt.
        talk: Messages per seat and round.
        control: `none`, or `shuffled` for the placebo.
        games: The number of finished games.
        meals: Mean meals per game.
        calls: Mean model calls per game.
        tokens: Mean tokens per game.
        meals_per_1000_calls: The meals obtained per 1,000 calls.
        calls_gained: Additional calls per additional meal, relative to silent play; None without silent play or a gain.
        tokens_gained: Additional tokens per additional meal, likewise.
        announcements: Last messages before an action that announce one in the scripted form.
        kept: How many of them were followed by the announced action.
    """

    player: str
    n: int
    prompt: str
    talk: int
    control: str
    games: int
    meals: float
    calls: float
    tokens: float
    meals_per_1000_calls: float
    calls_gained: float | None
    tokens_gained: float | None
    announcements: int
    kept: int


def calls_of(record: Record) -> int:
    """The model calls that a game took: turns, messages and, under the placebo, those of the other game."""
    return sum(1 for _ in retrace(record)) + len(record.donor) * record.rules.n * (record.rules.talk + 1)


def promises(record: Record) -> tuple[int, int]:
    """How many last messages before an action announced one in the scripted form, and how many were kept."""
    kept = []
    for _, view, done in retrace(record):
        if view.talk is None or isinstance(done, str):
            continue
        action = announced(view.talk.said)
        if action is not None:
            kept.append(done.action is action)
    return len(kept), sum(kept)


def price_of_talk(collection: Collection) -> list[Arm]:
    """The arms of every player and size: silent play first, then by messages, each with its placebo.

    Args:
        collection: The contents of the logs; games that did not end are left out.
    """
    groups: dict[tuple[object, ...], dict[tuple[int, str], list[Episode]]] = defaultdict(lambda: defaultdict(list))
    for episode in collection.episodes:
        if episode.status is Status.SCORED and episode.record is not None:
            rules = episode.record.rules
            # the prompt mentions talk, which changes its hash
            told = (*_TALK, "prompt", "sent")
            setup = tuple(pair for pair in episode.run.equal_games(rules) if pair[0] not in told)
            groups[episode.run.player, rules.n, episode.run.prompt, setup][rules.talk, rules.talk_control].append(
                episode
            )
    labels = labels_of(list(dict.fromkeys(episode.run.player for episode in collection.episodes)))
    arms = []
    for by_talk in groups.values():
        base = by_talk.get((0, "none"))
        for (talk, control), played in sorted(by_talk.items()):
            arms.append(_arm(labels[played[0].run.player], talk, control, played, base if talk else None))
    return arms


def _means(played: Sequence[Episode]) -> tuple[float, float, float]:
    meals = fmean(float(episode.terms.eaten) for episode in played)
    calls = fmean(calls_of(episode.record) for episode in played if episode.record)
    return meals, calls, fmean(episode.usage.tokens for episode in played)


def _arm(player: str, talk: int, control: str, played: Sequence[Episode], base: Sequence[Episode] | None) -> Arm:
    meals, calls, tokens = _means(played)
    calls_gained, tokens_gained = None, None
    if base:
        silent_meals, silent_calls, silent_tokens = _means(base)
        if meals > silent_meals:
            calls_gained = (calls - silent_calls) / (meals - silent_meals)
            tokens_gained = (tokens - silent_tokens) / (meals - silent_meals)
    counts = [promises(episode.record) for episode in played if episode.record]
    return Arm(
        player=player,
        n=played[0].n,
        prompt=played[0].run.prompt,
        talk=talk,
        control=control,
        games=len(played),
        meals=meals,
        calls=calls,
        tokens=tokens,
        meals_per_1000_calls=1000 * meals / calls,
        calls_gained=calls_gained,
        tokens_gained=tokens_gained,
        announcements=sum(made for made, _ in counts),
        kept=sum(kept for _, kept in counts),
    )
