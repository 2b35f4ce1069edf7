"""Seatings: the distinct arrangements of several players around the ring, and the games in which each is played.

Arrangements that differ only by a rotation count as one. The games of an evaluation go through all arrangements, with
changing rotations, so that no player keeps a seat and every split of the seats has the same weight.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from inspect_dining.table.players.playing import play
from inspect_dining.table.record import Record
from inspect_dining.table.rules import Coin, Rules, episode_seed

MOST_ENUMERATED = 2**16
"""The largest number of ways to fill the seats for which all arrangements are listed; beyond, every game draws one."""


@dataclass(frozen=True, slots=True)
class Seated:
    """A game with its players in their seats.

    Attributes:
        rules: The rules of the game.
        game: Its sample id, which keys its ties and its scripted coins; tables of other players play the same game.
        seating: For each seat, the name of its player.
    """

    rules: Rules
    game: str
    seating: tuple[str, ...]

    @property
    def seed(self) -> int:
        """The episode's seed, that of an evaluation's sample of the same id."""
        return episode_seed("test", self.game)


Host = Callable[[Sequence[Seated]], Sequence[Record]]
"""Plays games and returns their records in the same order."""


def play_scripted(games: Sequence[Seated]) -> list[Record]:
    """Plays games of scripted players, without Inspect.

    Raises:
        ValueError: There is no scripted player with one of the names.
    """
    return [play(game.rules, game.seating, game.seed) for game in games]


@lru_cache(maxsize=256)
def arrangements(n: int, players: int) -> tuple[tuple[int, ...], ...]:
    """All arrangements of players around a ring of n seats in which every player has a seat, each counted once.

    They are the necklaces of n beads in which every colour occurs; each is represented by its least rotation.

    Args:
        n: Seats.
        players: The number of players, from 1 to n; `players ** n` should not exceed `MOST_ENUMERATED`.

    Returns:
        For each arrangement, the player's number (from 0) in each seat, in lexical order.
    """
    everyone = set(range(players))
    return tuple(
        ring
        for ring in product(range(players), repeat=n)
        if set(ring) == everyone and all(ring <= ring[turn:] + ring[:turn] for turn in range(1, n))
    )


def seating(n: int, players: int, game: int, seed: int = 0) -> tuple[int, ...]:
    """The seating of one game in a series.

    Each game takes the next arrangement, in an order drawn by the seed; once all have been used, the ring is
    turned by one seat and the order repeats. If there are too many to list, every game draws its seats by fair coins
    until every player has one.

    Args:
        n: Seats.
        players: The number of players, from 1 to n.
        game: The number of the game, from 0.
        seed: Selects the family of games, as in `-T seed=`.

    Returns:
        For each seat, the number of its player, from 0.

    Raises:
        ValueError: There are more players than seats.
    """
    if not 1 <= players <= n:
        raise ValueError(f"{players} players cannot share a table of {n}: every player takes at least one seat.")
    if players**n > MOST_ENUMERATED:
        return _drawn(n, players, game, seed)
    rings = _order(n, players, seed)
    ring, turn = rings[game % len(rings)], game // len(rings) % n
    return ring[turn:] + ring[:turn]


@lru_cache(maxsize=256)
def _order(n: int, players: int, seed: int) -> tuple[tuple[int, ...], ...]:
    coin = Coin("arrangements", n, players, seed)
    return tuple(ring for _, ring in sorted((coin.random(), ring) for ring in arrangements(n, players)))


def _drawn(n: int, players: int, game: int, seed: int) -> tuple[int, ...]:
    coin, everyone = Coin("seating", n, players, seed, game), range(players)
    while True:
        seats = tuple(coin.choice(everyone) for _ in range(n))
        if len(set(seats)) == players:
            return seats
