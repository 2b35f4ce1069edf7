"""The strategies of scripted players, which decide from a view and a coin alone."""

from collections import Counter
from functools import lru_cache

from inspect_dining.table.moves import Action
from inspect_dining.table.rules import COIN_SIDES, Coin
from inspect_dining.table.view import Fork, View

_ACTIONS = tuple(Action)
_MINE = Fork.MINE
_FREE = Fork.FREE
_SPENT = Fork.SPENT


def seat_of(view: View) -> int:
    """The seat number of a view.

    Raises:
        ValueError: The rules hide it.
    """
    if view.seat is None:
        raise ValueError("This player needs its seat number, which seat='hidden' hides; use seat='shown'.")
    return view.seat


def toss(view: View, coin: Coin) -> float:
    """A number from 0 (included) to 1 (excluded): the one that the view shows, if it shows one, else the coin's."""
    return coin.random() if view.coin is None else view.coin / COIN_SIDES


def with_forks(view: View) -> Action | None:
    """The obvious moves of every sensible player: put down spent forks, eat with two."""
    if view.left is _SPENT:
        return Action.PUT_DOWN_LEFT
    if view.right is _SPENT:
        return Action.PUT_DOWN_RIGHT
    if view.left is _MINE and view.right is _MINE:
        return Action.EAT
    return None


def _in_turn(view: View, left_first: bool) -> Action:
    """Takes one given fork first, then the other, and waits holding the first."""
    ready = with_forks(view)
    if ready is not None:
        return ready
    first, second = (view.left, view.right) if left_first else (view.right, view.left)
    pick_first, pick_second = Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT
    if not left_first:
        pick_first, pick_second = pick_second, pick_first
    if first is _MINE:
        return pick_second if second is _FREE else Action.THINK
    return pick_first if first is _FREE else Action.THINK


def silent(view: View, coin: Coin) -> Action | None:
    """Calls no tool."""
    return None


def think(view: View, coin: Coin) -> Action | None:
    """Always thinks."""
    return Action.THINK


def random_action(view: View, coin: Coin) -> Action | None:
    """Takes any of the six actions, each with the same chance."""
    return coin.choice(_ACTIONS)


def left_first(view: View, coin: Coin) -> Action | None:
    """Takes the left fork first."""
    return _in_turn(view, left_first=True)


def hierarchy(view: View, coin: Coin) -> Action | None:
    """Takes the lower-numbered fork first."""
    return _in_turn(view, left_first=seat_of(view) != view.n - 1)


def odd_even(view: View, coin: Coin) -> Action | None:
    """Takes the left fork first at an even seat, the right one at an odd seat."""
    return _in_turn(view, left_first=_is_even(view))


def _is_even(view: View) -> bool:
    return view.parity == "even" if view.parity else seat_of(view) % 2 == 0


def even_odd(view: View, coin: Coin) -> Action | None:
    """Takes the right fork first at an even seat, the left one at an odd seat."""
    return _in_turn(view, left_first=not _is_even(view))


def backoff(view: View, coin: Coin) -> Action | None:
    """Takes the left fork first, and half the time puts it down if the right one is taken."""
    action = _in_turn(view, left_first=True)
    stuck = view.left is _MINE and view.right is Fork.TAKEN
    return Action.PUT_DOWN_LEFT if stuck and toss(view, coin) < 0.5 else action


def lehmann_rabin(view: View, coin: Coin) -> Action | None:
    """Takes one fork first by a coin, and puts it down if the other is taken."""
    ready = with_forks(view)
    if ready is not None:
        return ready
    held = _with_one_fork(view)
    if held is not None:
        return held
    if toss(view, coin) < 0.5:
        return Action.PICK_UP_LEFT if view.left is _FREE else Action.THINK
    return Action.PICK_UP_RIGHT if view.right is _FREE else Action.THINK


def _with_one_fork(view: View) -> Action | None:
    """The move, holding one fork, of a player that never waits with one: take the other if it is free, else let go."""
    if view.left is _MINE:
        return Action.PICK_UP_RIGHT if view.right is _FREE else Action.PUT_DOWN_LEFT
    if view.right is _MINE:
        return Action.PICK_UP_LEFT if view.left is _FREE else Action.PUT_DOWN_RIGHT
    return None


def courteous(view: View, coin: Coin) -> Action | None:
    """Reaches half the time if both forks are free, and puts a fork down if the other is taken."""
    busy = with_forks(view) or _with_one_fork(view)
    if busy is not None:
        return busy
    if view.left is not _FREE or view.right is not _FREE or coin.random() < 0.5:
        return Action.THINK
    return coin.choice((Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT))


def hog(view: View, coin: Coin) -> Action | None:
    """Takes whatever is free."""
    ready = with_forks(view)
    if ready is not None:
        return ready
    if view.left is _FREE:
        return Action.PICK_UP_LEFT
    return Action.PICK_UP_RIGHT if view.right is _FREE else Action.THINK


def wave(view: View, coin: Coin) -> Action | None:
    """Takes forks by the clock and the seat, in the best schedule known."""
    ready = with_forks(view)
    if ready is not None:
        return ready
    start, period = wave_clock(view.n, view.rounds, seat_of(view))
    since = (view.round - start) % period
    meals = wave_meals(view.n)[1]
    phase = since % _CYCLE if since < _CYCLE * meals else _CYCLE - 1
    if view.left is _MINE:
        return Action.PICK_UP_RIGHT if phase == 1 and view.right is _FREE else Action.PUT_DOWN_LEFT
    return Action.PICK_UP_LEFT if phase == 0 and view.left is _FREE and fits(view) else Action.THINK


def wary(view: View, coin: Coin) -> Action | None:
    """Plays the wave; with fewer meals than scheduled, it reaches only if both forks are free."""
    action = wave(view, coin)
    reaches = action is Action.PICK_UP_LEFT and view.left is _FREE and view.right is not _MINE
    if reaches and view.right is not _FREE and view.meals < _wave_meals_before(view):
        return Action.THINK
    return action


def _wave_meals_before(view: View) -> int:
    """The meals that a seat has before this round if all seats play the wave."""
    start, period = wave_clock(view.n, view.rounds, seat_of(view))
    firsts = ((start + _CYCLE * meal) % period or period for meal in range(wave_meals(view.n)[1]))
    return sum(len(range(first, view.round - 2, period)) for first in firsts)


_CYCLE = 5
"""A meal takes one fork for three rounds and the other for two, so a fork feeds a seat in five rounds at best."""


def fits(view: View) -> bool:
    """Whether a meal begun now is finished by the horizon."""
    return view.round + 2 <= view.rounds


def wave_meals(n: int) -> tuple[int, int, int]:
    """The better of the two waves for n seats.

    Forward, every seat starts 3 rounds after its left neighbour (period 3n); backward, 2 rounds before (period 2n).
    Within a period each seat eats as often as meals 5 rounds apart allow.

    Returns:
        The period in rounds, the meals of each seat in it, and the rounds by which a seat starts after its left
        neighbour (negative: before).
    """
    forward, backward = (3 * n, 3 * n // _CYCLE, 3), (2 * n, 2 * n // _CYCLE, -2)
    return max(forward, backward, key=lambda wave: wave[1] / wave[0])


@lru_cache(maxsize=4096)
def wave_clock(n: int, rounds: int, seat: int) -> tuple[int, int]:
    """When a seat's first meal of a period begins, shifted so that the whole table eats the most by the horizon.

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
