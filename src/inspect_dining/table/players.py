"""Scripted players: strategies that decide from a view alone, with no model, network or memory.

Each states what it may know. They set the scale on which a model is read, prove every game solvable, and take seats
beside models. All but `silent`, `think` and `random` eat when they can and, under manual release, put down forks that
have fed them.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from inspect_dining.table.moves import Action
from inspect_dining.table.rules import Coin
from inspect_dining.table.view import Fork, View

Decide = Callable[[View, Coin], Action | None]

_ACTIONS = tuple(Action)
_MINE = Fork.MINE
_FREE = Fork.FREE
_SPENT = Fork.SPENT


@dataclass(frozen=True, slots=True)
class Scripted:
    """A scripted player.

    Attributes:
        name: Its name, as in `dining/<name>`.
        knows: What it uses of its view, in words.
        decide: Takes a view and the coin of that turn; gives an action, or None for no call at all.
        tosses: Whether it ever tosses the coin; where it does not, any coin will do.
    """

    name: str
    knows: str
    decide: Decide
    tosses: bool = False


def _with_forks(view: View) -> Action | None:
    """What every sensible player does with forks that are ready: put down spent ones, eat with two."""
    if view.left is _SPENT:
        return Action.PUT_DOWN_LEFT
    if view.right is _SPENT:
        return Action.PUT_DOWN_RIGHT
    if view.left is _MINE and view.right is _MINE:
        return Action.EAT
    return None


def _in_turn(view: View, left_first: bool) -> Action:
    """Takes one given fork first, then the other, and waits with the first in hand."""
    ready = _with_forks(view)
    if ready is not None:
        return ready
    first, second = (view.left, view.right) if left_first else (view.right, view.left)
    pick_first, pick_second = Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT
    if not left_first:
        pick_first, pick_second = pick_second, pick_first
    if first is _MINE:
        return pick_second if second is _FREE else Action.THINK
    return pick_first if first is _FREE else Action.THINK


def _silent(view: View, coin: Coin) -> Action | None:
    return None


def _think(view: View, coin: Coin) -> Action | None:
    return Action.THINK


def _random(view: View, coin: Coin) -> Action | None:
    return coin.choice(_ACTIONS)


def _left_first(view: View, coin: Coin) -> Action | None:
    return _in_turn(view, left_first=True)


def _hierarchy(view: View, coin: Coin) -> Action | None:
    return _in_turn(view, left_first=view.seat != view.n - 1)


def _odd_even(view: View, coin: Coin) -> Action | None:
    return _in_turn(view, left_first=view.seat % 2 == 0)


def _even_odd(view: View, coin: Coin) -> Action | None:
    return _in_turn(view, left_first=view.seat % 2 == 1)


def _backoff(view: View, coin: Coin) -> Action | None:
    action = _in_turn(view, left_first=True)
    stuck = view.left is _MINE and view.right is Fork.TAKEN
    return Action.PUT_DOWN_LEFT if stuck and coin.random() < 0.5 else action


def _lehmann_rabin(view: View, coin: Coin) -> Action | None:
    ready = _with_forks(view)
    if ready is not None:
        return ready
    held = _with_one_fork(view)
    if held is not None:
        return held
    if coin.random() < 0.5:
        return Action.PICK_UP_LEFT if view.left is _FREE else Action.THINK
    return Action.PICK_UP_RIGHT if view.right is _FREE else Action.THINK


def _with_one_fork(view: View) -> Action | None:
    """What a player that never waits with a fork does with one: takes the other if it is free, else lets go."""
    if view.left is _MINE:
        return Action.PICK_UP_RIGHT if view.right is _FREE else Action.PUT_DOWN_LEFT
    if view.right is _MINE:
        return Action.PICK_UP_LEFT if view.left is _FREE else Action.PUT_DOWN_RIGHT
    return None


def _courteous(view: View, coin: Coin) -> Action | None:
    busy = _with_forks(view) or _with_one_fork(view)
    if busy is not None:
        return busy
    if view.left is not _FREE or view.right is not _FREE or coin.random() < 0.5:
        return Action.THINK
    return coin.choice((Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT))


def _hog(view: View, coin: Coin) -> Action | None:
    ready = _with_forks(view)
    if ready is not None:
        return ready
    if view.left is _FREE:
        return Action.PICK_UP_LEFT
    return Action.PICK_UP_RIGHT if view.right is _FREE else Action.THINK


def _wave(view: View, coin: Coin) -> Action | None:
    ready = _with_forks(view)
    if ready is not None:
        return ready
    start, period = wave_clock(view.n, view.rounds, view.seat)
    since = (view.round - start) % period
    meals = wave_meals(view.n)[1]
    phase = since % _CYCLE if since < _CYCLE * meals else _CYCLE - 1
    if view.left is _MINE:
        return Action.PICK_UP_RIGHT if phase == 1 and view.right is _FREE else Action.PUT_DOWN_LEFT
    return Action.PICK_UP_LEFT if phase == 0 and view.left is _FREE and _fits(view) else Action.THINK


def _wary(view: View, coin: Coin) -> Action | None:
    action = _wave(view, coin)
    reaches = action is Action.PICK_UP_LEFT and view.left is _FREE and view.right is not _MINE
    if reaches and view.right is not _FREE and view.meals < _wave_meals_before(view):
        return Action.THINK
    return action


def _wave_meals_before(view: View) -> int:
    """How many meals the wave gives a seat before this round, where all seats play it."""
    start, period = wave_clock(view.n, view.rounds, view.seat)
    firsts = ((start + _CYCLE * meal) % period or period for meal in range(wave_meals(view.n)[1]))
    return sum(len(range(first, view.round - 2, period)) for first in firsts)


_CYCLE = 5
"""A meal takes one fork for three rounds and the other for two, so a fork feeds a seat in five rounds at best."""


def _fits(view: View) -> bool:
    """Whether a meal begun now ends by the horizon."""
    return view.round + 2 <= view.rounds


def wave_meals(n: int) -> tuple[int, int, int]:
    """The better of the two waves for n seats.

    Forward, every seat starts 3 rounds after its left neighbour (period 3n); backward, 2 rounds before (period 2n).
    Within a period each seat eats as often as meals 5 rounds apart fit.

    Returns:
        The period in rounds, the meals of each seat in it, and the rounds by which a seat starts after its left
        neighbour (negative: before).
    """
    forward, backward = (3 * n, 3 * n // _CYCLE, 3), (2 * n, 2 * n // _CYCLE, -2)
    return max(forward, backward, key=lambda wave: wave[1] / wave[0])


@lru_cache(maxsize=4096)
def wave_clock(n: int, rounds: int, seat: int) -> tuple[int, int]:
    """When a seat's first meal of a period begins, shifted so that the whole table eats most by the horizon.

    Returns:
        The round, and the period in rounds.
    """
    return (_wave_shift(n, rounds) + wave_meals(n)[2] * seat) % wave_meals(n)[0], wave_meals(n)[0]


@lru_cache(maxsize=256)
def _wave_shift(n: int, rounds: int) -> int:
    period, meals, step = wave_meals(n)
    starts = Counter((step * seat + _CYCLE * meal) % period for seat in range(n) for meal in range(meals))

    def eaten(shift: int) -> int:
        firsts = (((start + shift) % period or period, count) for start, count in starts.items())
        return sum(count * len(range(first, rounds - 1, period)) for first, count in firsts)

    return max(range(period), key=eaten)


_PLAYERS = (
    Scripted("silent", "Nothing; it never calls a tool.", _silent),
    Scripted("think", "Nothing; it always thinks.", _think),
    Scripted("random", "Nothing but a coin: any of the six actions, each with the same chance.", _random, tosses=True),
    Scripted("left_first", "Its forks. All alike take the left fork and lock.", _left_first),
    Scripted("hierarchy", "Its forks, its seat and n: the lower-numbered fork first (Dijkstra's order).", _hierarchy),
    Scripted(
        "odd_even", "Its forks and whether its seat is even: even seats left first, odd seats right first.", _odd_even
    ),
    Scripted(
        "even_odd",
        "Its forks and whether its seat is even: the mirror of odd_even, even seats right first.",
        _even_odd,
    ),
    Scripted(
        "backoff",
        "Its forks and a coin: left first, and half the time it lets go where the right one is taken.",
        _backoff,
        tosses=True,
    ),
    Scripted(
        "lehmann_rabin",
        "Its forks and a coin that says which fork first; it lets go where the other is taken.",
        _lehmann_rabin,
        tosses=True,
    ),
    Scripted(
        "courteous",
        "Its forks and a coin: half the time it reaches where both are free, and it lets go where the other is taken.",
        _courteous,
        tosses=True,
    ),
    Scripted(
        "wave",
        "Its forks, seat, n, the round and T: the best schedule by the clock (made for automatic release).",
        _wave,
    ),
    Scripted(
        "wary",
        "What the wave uses and its meals: the wave, and with fewer meals than its schedule gives (among strangers, or "
        "beside a fault) it reaches only where both forks are free.",
        _wary,
    ),
    Scripted("hog", "Its forks; it takes whatever is free and lets go of nothing it need not.", _hog),
)
SCRIPTED: dict[str, Scripted] = {player.name: player for player in _PLAYERS}
"""The scripted players by name."""


def scripted(name: str) -> Scripted:
    """The scripted player of a name.

    Raises:
        ValueError: There is none; the sentence names the nearest and all that there are.
    """
    if name in SCRIPTED:
        return SCRIPTED[name]
    near = get_close_matches(name, SCRIPTED, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise ValueError(f"There is no scripted player {name!r}.{hint} Accepted: {', '.join(SCRIPTED)}.")
