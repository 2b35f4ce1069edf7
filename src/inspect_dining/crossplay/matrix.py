"""The matrix of cross-play: the results of every pair of players at one table, and of each player alone.

The game is the unit: tables of different players play the same games, differences are taken game by game, and a game
that was played several times counts once. A cell is played in all arrangements, or in a fresh
draw for every game, so the interval over games holds for both; each arrangement's own mean is in `Cell.splits`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from inspect_dining.crossplay.seatings import Host, Seated, play_scripted, seating
from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.statistics import Estimate, estimate, share_interval
from inspect_dining.table.rules import Rules, sample_id

Pair = tuple[str, str]
ByGame = Mapping[str, float]
Value = Callable[["PlayedGame"], float]


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A finished game.

    Attributes:
        game: Its sample id.
        seating: For each seat, the name of its player.
        terms: Its outcome.
    """

    game: str
    seating: tuple[str, ...]
    terms: Terms


@dataclass(frozen=True, slots=True)
class Split:
    """One arrangement of the ring.

    Attributes:
        arrangement: The players in order around the ring, from an arbitrary seat on.
        plays: The number of games in which it was played.
        efficiency: Their mean efficiency.
        deadlock: The share of them that deadlocked.
    """

    arrangement: tuple[str, ...]
    plays: int
    efficiency: float
    deadlock: float


@dataclass(frozen=True, slots=True)
class PairResult:
    """The results of one or two players at one table.

    Attributes:
        players: The two players, or one twice for its table alone.
        plays: Games played, repetitions of a game included.
        efficiency: Mean efficiency over games.
        deadlock: Share of games that deadlocked.
        meals: For each player, the mean meals per seat and game.
        splits: The arrangements that were played, the best first.
    """

    players: Pair
    plays: int
    efficiency: Estimate
    deadlock: Estimate
    meals: Mapping[str, Estimate]
    splits: tuple[Split, ...]


@dataclass(frozen=True, slots=True)
class Mixing:
    """The effect of mixing two players, compared game by game with each of them alone.

    Attributes:
        players: The two players.
        loss: Mean efficiency of their two pure tables minus that of the mixed one (self-play minus cross-play).
        deadlocks: Share of deadlocks at the mixed table minus the mean share at the pure ones.
        meals: For each player, the meals per seat at the mixed table minus those at its own (who pays).
    """

    players: Pair
    loss: Estimate
    deadlocks: Estimate
    meals: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Regret:
    """The efficiency that a player loses relative to the best available response to a partner.

    Attributes:
        player: The player.
        partner: The partner.
        best: The player with the highest mean with that partner (the partner's own table included).
        regret: Efficiency with the best response minus that with the player. The response is chosen on one half of the
            games and the difference taken on the other, both ways, so that the choice does not flatter it.
    """

    player: str
    partner: str
    best: str
    regret: Estimate


@dataclass(frozen=True, slots=True)
class Matrix:
    """Cross-play of some players.

    Attributes:
        n: Seats.
        rounds: The horizon T.
        players: The players, in the order of rows.
        cells: A cell for every pair that was played, keyed by the pair in the order of `players`.
        mixings: The effect of mixing, for every pair of different players.
        regrets: For every player and partner with another response to compare.
    """

    n: int
    rounds: int
    players: tuple[str, ...]
    cells: Mapping[Pair, PairResult]
    mixings: tuple[Mixing, ...]
    regrets: tuple[Regret, ...]

    def cell(self, first: str, second: str) -> PairResult | None:
        """The cell of two players in either order, or None if they were not played."""
        return self.cells.get((first, second)) or self.cells.get((second, first))


def cross_play(
    players: Sequence[str], rules: Rules, games: int = 120, seed: int = 0, host: Host = play_scripted
) -> Matrix:
    """Plays every pair of some players, and each of them alone, on the same games.

    Args:
        players: Their names, each once.
        rules: The rules.
        games: Games per cell, at least 1.
        seed: Selects the family of games, as in `-T seed=`; game e is the evaluation's sample e.
        host: The host that plays the games; by default, scripted players by name.

    Raises:
        ValueError: A name is repeated or unknown.
    """
    if len(set(players)) < len(players) or not players:
        raise ValueError(f"players={', '.join(players)!r} is not accepted: name one or more players, each once.")
    planned = [game for pair in _pairs(players) for game in _seated(pair, rules, games, seed)]
    records = host(planned)
    played = [PlayedGame(g.game, g.seating, terms(record)) for g, record in zip(planned, records, strict=True)]
    return matrix_of(played, players)


def _pairs(players: Sequence[str]) -> list[Pair]:
    return [*((player, player) for player in players), *combinations(players, 2)]


def _seated(pair: Pair, rules: Rules, games: int, seed: int) -> Iterable[Seated]:
    different = tuple(dict.fromkeys(pair))
    for game in range(games):
        seats = seating(rules.n, len(different), game, seed)
        yield Seated(rules, sample_id(rules.n, seed, game), tuple(different[number] for number in seats))


def matrix_of(played: Sequence[PlayedGame], players: Sequence[str]) -> Matrix:
    """Builds the matrix from games played here or found in logs.

    Args:
        played: Games of one n and T; those with more than two players, or with others than these, are ignored.
        players: The players, in the order of rows.

    Raises:
        ValueError: The games differ in n or T.
    """
    sizes = {(one.terms.n, one.terms.rounds) for one in played}
    if len(sizes) != 1:
        raise ValueError(f"A matrix takes games of one size and horizon; these have (n, T) = {sorted(sizes)}.")
    ((n, rounds),) = sizes
    order = {player: place for place, player in enumerate(players)}
    tables: dict[Pair, list[PlayedGame]] = defaultdict(list)
    for one in played:
        seated = sorted(set(one.seating) & order.keys(), key=order.__getitem__)
        if len(set(one.seating)) == len(seated) <= 2:
            tables[seated[0], seated[-1]].append(one)
    cells = {pair: _cell(pair, tables[pair]) for pair in _pairs(players) if pair in tables}
    eaten = {pair: _by_game(some, lambda one: one.terms.efficiency) for pair, some in tables.items()}
    mixings = tuple(
        _mixing(pair, tables)
        for pair in combinations(players, 2)
        if {pair, (pair[0],) * 2, (pair[1],) * 2} <= cells.keys()
    )
    return Matrix(n, rounds, tuple(players), cells, mixings, tuple(_regrets(players, eaten)))


def _cell(pair: Pair, played: Sequence[PlayedGame]) -> PairResult:
    locked = _by_game(played, lambda one: float(one.terms.deadlocked))
    once = len(locked) == len(played)
    return PairResult(
        players=pair,
        plays=len(played),
        efficiency=_estimate(_by_game(played, lambda one: one.terms.efficiency)),
        deadlock=share_interval(round(sum(locked.values())), len(locked)) if once else _estimate(locked),
        meals={player: estimate(list(_meals(played, player).values()), least=0) for player in dict.fromkeys(pair)},
        splits=_splits(played),
    )


def _estimate(values: ByGame) -> Estimate:
    return estimate(list(values.values()), least=0, most=1)


def _by_game(played: Iterable[PlayedGame], value: Value) -> dict[str, float]:
    """The mean of a value over the plays of each game."""
    values: dict[str, list[float]] = defaultdict(list)
    for one in played:
        values[one.game].append(value(one))
    return {game: fmean(some) for game, some in sorted(values.items())}


def _meals(played: Iterable[PlayedGame], player: str) -> dict[str, float]:
    def of_its_seats(one: PlayedGame) -> float:
        return fmean(meals for meals, name in zip(one.terms.meals, one.seating, strict=True) if name == player)

    return _by_game(played, of_its_seats)


def _splits(played: Sequence[PlayedGame]) -> tuple[Split, ...]:
    rings: dict[tuple[str, ...], list[Terms]] = defaultdict(list)
    for one in played:
        seats = one.seating
        rings[min(seats[turn:] + seats[:turn] for turn in range(len(seats)))].append(one.terms)
    found = [
        Split(ring, len(some), fmean(t.efficiency for t in some), fmean(float(t.deadlocked) for t in some))
        for ring, some in rings.items()
    ]
    return tuple(sorted(found, key=lambda split: (-split.efficiency, split.arrangement)))


def _difference(first: ByGame, second: ByGame) -> Estimate:
    """The mean of the second minus the first over the games that both have."""
    return estimate([second[game] - first[game] for game in first if game in second])


def _mixing(pair: Pair, tables: Mapping[Pair, Sequence[PlayedGame]]) -> Mixing:
    one, other = (tables[player, player] for player in pair)
    mixed = tables[pair]

    def pure(value: Value) -> dict[str, float]:
        first, second = _by_game(one, value), _by_game(other, value)
        return {game: (first[game] + second[game]) / 2 for game in first if game in second}

    def efficiency(played: PlayedGame) -> float:
        return played.terms.efficiency

    def deadlock(played: PlayedGame) -> float:
        return float(played.terms.deadlocked)

    return Mixing(
        players=pair,
        loss=_difference(_by_game(mixed, efficiency), pure(efficiency)),
        deadlocks=_difference(pure(deadlock), _by_game(mixed, deadlock)),
        meals={player: _difference(_meals(tables[player, player], player), _meals(mixed, player)) for player in pair},
    )


def _regrets(players: Sequence[str], eaten: Mapping[Pair, ByGame]) -> Iterable[Regret]:
    for partner in players:
        found = ((p, eaten.get((p, partner)) or eaten.get((partner, p))) for p in players)
        responses = {player: games for player, games in found if games}
        shared = sorted(set.intersection(*map(set, responses.values()))) if len(responses) > 1 else []
        if len(shared) < 2:
            continue
        halves = shared[::2], shared[1::2]
        chosen = [_best(responses, half) for half in halves]
        for player, own in responses.items():
            left = [
                responses[best][game] - own[game]
                for best, half in zip(chosen, reversed(halves), strict=True)
                for game in half
            ]
            yield Regret(player, partner, _best(responses, shared), estimate(left))


def _best(responses: Mapping[str, ByGame], games: Sequence[str]) -> str:
    return max(responses, key=lambda player: fmean(responses[player][game] for game in games))
