"""The Shapley value of a player: its fair share of the efficiency of a table of all players (Shapley 1953).

A coalition's worth is the mean efficiency of a table at which every seat draws its player from the coalition by a fair
coin; the empty coalition is worth 0. The values of all players add up to the worth of all of them together.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import factorial

from inspect_dining.crossplay.seatings import Host, Seated, play_scripted
from inspect_dining.scorers.terms import terms
from inspect_dining.statistics import Estimate, estimate
from inspect_dining.table.rules import Coin, Rules, sample_id

MOST_PLAYERS = 8
"""The maximum number of players: 255 coalitions, and as many tables per game."""


def shapley_values(
    players: Sequence[str], rules: Rules, games: int = 120, seed: int = 0, host: Host = play_scripted
) -> dict[str, Estimate]:
    """The Shapley value of each player, in units of efficiency.

    Every coalition plays the same games, and the coin of a seat is the same for all coalitions, so that the values of
    one game add up and the game is the unit of the intervals.

    Args:
        players: Their names, each once, at most `MOST_PLAYERS`.
        rules: The rules.
        games: Games per coalition, at least 1.
        seed: Selects the family of games.
        host: The host that plays the games.

    Returns:
        For each player, the mean of its value over games, with its interval.

    Raises:
        ValueError: There are more players than `MOST_PLAYERS`.
    """
    if len(players) > MOST_PLAYERS:
        raise ValueError(
            f"Shapley values of {len(players)} players take {2 ** len(players) - 1} coalitions; at most {MOST_PLAYERS} "
            "players are accepted."
        )
    everyone = range(len(players))
    coalitions = [some for size in everyone for some in combinations(everyone, size + 1)]
    names = [sample_id(rules.n, seed, game) for game in range(games)]
    planned = [Seated(rules, name, _drawn(name, rules.n, some, players)) for name in names for some in coalitions]
    different = list(dict.fromkeys(planned))
    efficiency = {game: terms(record).efficiency for game, record in zip(different, host(different), strict=True)}
    worths = iter(efficiency[game] for game in planned)
    values: dict[str, list[float]] = {player: [] for player in players}
    for _ in names:
        worth = {some: next(worths) for some in coalitions}
        for place, player in enumerate(players):
            values[player].append(_value(place, len(players), worth))
    return {player: estimate(some) for player, some in values.items()}


def _drawn(game: str, n: int, coalition: Sequence[int], players: Sequence[str]) -> tuple[str, ...]:
    return tuple(players[Coin("coalition", game, seat).choice(coalition)] for seat in range(n))


def _value(place: int, count: int, worth: Mapping[tuple[int, ...], float]) -> float:
    """A player's mean marginal contribution over all orders of arrival."""
    return sum(
        factorial(len(some) - 1)
        * factorial(count - len(some))
        / factorial(count)
        * (total - worth.get(tuple(p for p in some if p != place), 0.0))
        for some, total in worth.items()
        if place in some
    )
