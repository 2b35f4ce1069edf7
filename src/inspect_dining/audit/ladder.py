"""The ladder: the scores of every scripted player under given rules, as a scale for any model.

Games are played without Inspect, on the seeds of an evaluation (`-T seed=0`), so that a model's episode and a rung's
episode of the same number are the same game.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import fmean

from inspect_dining.audit.seat_blind import BEST_FOUND, player_of
from inspect_dining.scorers.catalogue import SCORES, compute_scores, estimate_score
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.statistics import Estimate
from inspect_dining.table.moves import Outcome
from inspect_dining.table.players.playing import play
from inspect_dining.table.players.scripted import players_under, scripted
from inspect_dining.table.record import Record, replay
from inspect_dining.table.rules import Rules, episode_seed, sample_id

SEAT_BLIND = "seat_blind"
"""The rung of the best known policy for players who see only their two forks and a coin: the price of symmetry."""
GROUPS = (3, 8, 16)
"""The group sizes for which the chance of no spread is reported."""


@dataclass(frozen=True, slots=True)
class Rung:
    """The scores of one scripted player.

    Attributes:
        player: Its name.
        rules: The rules it played under.
        episodes: The number of games.
        meals: Mean meals of the whole table.
        scores: The ten scores by name.
    """

    player: str
    rules: Rules
    episodes: int
    meals: float
    scores: Mapping[str, Estimate]


def players_on(rules: Rules) -> tuple[str, ...]:
    """The rungs of the ladder under some rules: the scripted players that suit them and, with the coin, `SEAT_BLIND`.

    That policy is for automatic release in simultaneous order with random ties, and at most six seats.
    """
    plain = (rules.order, rules.release, rules.ties) == ("simultaneous", "auto", "random")
    blind = rules.hint == "coin" and rules.n in BEST_FOUND and plain
    return (*players_under(rules), *([SEAT_BLIND] if blind else []))


def games(rules: Rules, player: str, episodes: int, seed: int = 0, epoch: int = 1) -> list[Terms]:
    """The terms of a scripted player's games, all seats alike.

    Args:
        rules: The rules.
        player: The player's name, or `SEAT_BLIND`.
        episodes: The number of games, at least 1.
        seed: As in `-T seed=`.
        epoch: Keys the player's coins, not the ties.

    Raises:
        ValueError: An unknown player.
    """
    names = (sample_id(rules.n, seed, episode) for episode in range(episodes))
    seated = player_of(BEST_FOUND[rules.n]) if player == SEAT_BLIND else player
    first = play(rules, seated, episode_seed("test", next(names)), epoch)
    if _without_chance(rules, player, first):
        return [terms(first)] * episodes
    return [terms(first), *(terms(play(rules, seated, episode_seed("test", name), epoch)) for name in names)]


def _without_chance(rules: Rules, player: str, game: Record) -> bool:
    """Whether all games of a player are this one: it tosses no coin, is shown none, and no two reached for one fork.

    Args:
        rules: The rules; those with talk or faults are taken to leave something to chance.
        player: The player's name.
        game: One of its games.
    """
    if player == SEAT_BLIND or scripted(player).tosses or rules.talk or rules.faults or rules.hint == "coin":
        return False
    if rules.order != "simultaneous":
        return False
    return all(turn.outcome is not Outcome.LOST_TIE for round_ in replay(game) for turn in round_.turns)


def ladder(
    rules: Sequence[Rules], shaped: Shaping, episodes: int, seed: int = 0, players: Sequence[str] | None = None
) -> list[Rung]:
    """Plays every scripted player under each of some rules.

    Args:
        rules: The rules, such as two sets that differ in patience.
        shaped: The shaping that gives `reward`.
        episodes: Games per player under each set of rules, at least 2.
        seed: As in `-T seed=`.
        players: Their names; None for all that suit the first rules.

    Returns:
        The rungs, the highest mean efficiency under the first rules first; each player's rungs in the order of rules.
    """
    order: list[tuple[float, str]] = []
    rungs: dict[str, list[Rung]] = {}
    for player in players_on(rules[0]) if players is None else players:
        rungs[player] = [_rung(r, player, games(r, player, episodes, seed), shaped) for r in rules]
        order.append((rungs[player][0].scores["efficiency"].mean or 0.0, player))
    best_first = sorted(order, key=lambda pair: -pair[0])
    return [rung for _, player in best_first for rung in rungs[player]]


def _rung(rules: Rules, player: str, episodes: Sequence[Terms], shaped: Shaping) -> Rung:
    values = [compute_scores(episode, shaped) for episode in episodes]
    ate = [episode.eaten > 0 for episode in episodes]
    means = {name: estimate_score(score, [one[name] for one in values], ate) for name, score in SCORES.items()}
    return Rung(player, rules, len(episodes), fmean(episode.eaten for episode in episodes), means)


def no_spread(deadlock: float, size: int) -> float:
    """The chance that a group has no spread if episodes deadlock with equal chance and otherwise earn the same.

    Args:
        deadlock: The chance of deadlock, 0 to 1.
        size: Episodes in the group.
    """
    return float(deadlock**size + (1 - deadlock) ** size)


@dataclass(frozen=True, slots=True)
class PlayedGroups:
    """A scripted player's games, before any shaping.

    Attributes:
        player: Its name.
        episodes: Different games, each played once.
        groups: Groups of episodes of one game, in which ties fall alike and only the player's coins differ.
    """

    player: str
    episodes: Sequence[Terms]
    groups: Sequence[Sequence[Terms]]


def play_groups(rules: Rules, player: str, episodes: int, groups: int, seed: int = 0) -> PlayedGroups:
    """Plays a scripted player's games, and the first of them for as many epochs as the largest group has.

    Args:
        rules: The rules.
        player: The player's name.
        episodes: The number of games, at least 2.
        groups: The number of games for which a group is played, at most `episodes`.
        seed: As in `-T seed=`.
    """
    first = games(rules, player, episodes, seed)
    epochs = [first[:groups], *(games(rules, player, groups, seed, epoch) for epoch in range(2, max(GROUPS) + 1))]
    return PlayedGroups(player, first, list(zip(*epochs, strict=True)))


def group_chance(shaped: Shaping, played: PlayedGroups, size: int) -> float:
    """The chance that a group of a given size has no spread, that is, that all its episodes earn the same.

    The share of the subsets of that size, over all groups played, whose rewards are equal; it is unbiased.

    Args:
        shaped: The shaping.
        played: The player's games.
        size: Episodes in the group, at most the largest of `GROUPS`.
    """
    alike = 0.0
    for group in played.groups:
        counts = Counter(round(shaped(episode), 9) for episode in group)
        alike += sum(comb(times, size) for times in counts.values()) / comb(len(group), size)
    return alike / len(played.groups)
