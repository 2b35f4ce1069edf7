"""Scripted players that coordinate by words alone: the scale for models that may talk.

They keep nothing between turns except their last message, which the view shows. Every message begins with its round and
is believed in that round only. A player that has not heard both neighbours in this round, or is under the placebo,
plays `lehmann_rabin`, its level without talk. A message that announces an action does so in one form, `I will eat.`,
which `announced` reads.

A meal takes three rounds here: the left fork, the right fork, `eat`. A seat that begins in round t keeps its left
neighbour from beginning before round t + 2, and its right neighbour before round t + 3.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from inspect_dining.table.moves import Action
from inspect_dining.table.players.strategies import fits, lehmann_rabin, toss, wave, with_forks
from inspect_dining.table.rules import COIN_SIDES, Coin
from inspect_dining.table.talk import Talk
from inspect_dining.table.view import Fork, View

_MINE, _FREE = Fork.MINE, Fork.FREE
_MESSAGE = re.compile(r"Round (?P<round>\d{1,9}): (?P<words>.+)")
_WILL = re.compile(rf"Round \d{{1,9}}:(?: [^.]*,)? I will (?P<action>{'|'.join(Action)})\.")


def announced(message: str) -> Action | None:
    """The action that a message in the scripted form announces, or None if it has another form or announces none.

    The scripted form is `Round 3: I will eat.`, with more words before `I will` if a comma ends them.
    """
    match = _WILL.fullmatch(message)
    return None if match is None else Action(match["action"])


def _talk(view: View) -> Talk:
    return view.talk or Talk(0, 0)


def _words(view: View, message: str) -> str:
    """The content of a neighbour's message, or nothing if it is not of this round.

    Before a round's first exchange is over, the latest message is that of the round before.
    """
    match = _MESSAGE.fullmatch(message)
    rounds = (view.round - 1, view.round) if _talk(view).number == 1 else (view.round,)
    return match["words"] if match and int(match["round"]) in rounds else ""


def _heard(view: View) -> tuple[str, str]:
    left, right = _talk(view).heard
    return _words(view, left), _words(view, right)


def _own(view: View) -> str:
    """The player's own last message, from this round or the one before."""
    match = _MESSAGE.fullmatch(_talk(view).said)
    return match["words"] if match and int(match["round"]) >= view.round - 1 else ""


def _number(view: View, coin: Coin) -> int:
    """The number that distinguishes a seat from its neighbours: the one shown, else its seat, else one drawn."""
    return view.seat if view.coin is None and view.seat is not None else int(toss(view, coin) * COIN_SIDES)


def _going_on(view: View) -> Action | None:
    """The next action of a meal that has begun, or None if none has."""
    ready = with_forks(view)
    if ready is not None:
        return ready
    if view.left is _MINE:
        return Action.PICK_UP_RIGHT if view.right is _FREE else Action.THINK
    return Action.PUT_DOWN_RIGHT if view.right is _MINE else None


# Announce and yield.

_ASKS = re.compile(r"I ask to pick_up_left, meals (\d{1,9}), number (\d{1,4})\.")
_IDLE = re.compile(r"I wait\.|I will think\.|I will put_down_\w+\.")


def say_announce(view: View, coin: Coin) -> str:
    """Says what it will do; without forks it asks to begin, in the last message of a round only if it then may."""
    talk, going_on = _talk(view), _going_on(view)
    if going_on is not None:
        words = f"I will {going_on}."
    elif talk.number < talk.of:
        words = "I wait."
    elif not fits(view) or view.left is not _FREE or (talk.of > 1 and not _may_begin(view)):
        words = "I will think."
    else:
        words = f"I ask to pick_up_left, meals {view.meals}, number {_place(view.seat, view, coin)}."
    return f"Round {view.round}: {words}"


def announce_yield(view: View, coin: Coin) -> Action | None:
    """Begins a meal if it asked to and no neighbour is in the way or has eaten less; a neighbour's request can win."""
    heard = _heard(view)
    if not all(heard):
        return lehmann_rabin(view, coin)
    going_on = _going_on(view)
    if going_on is not None:
        return going_on
    asked = _ASKS.fullmatch(_own(view))
    if asked is None or view.left is not _FREE or not _may_begin(view):
        return Action.THINK
    mine = int(asked[1]), int(asked[2])
    rivals = [(int(ask[1]), int(ask[2])) for ask in map(_ASKS.fullmatch, heard) if ask]
    return Action.PICK_UP_LEFT if all(mine < rival for rival in rivals) else Action.THINK


def _may_begin(view: View) -> bool:
    """Whether the neighbours' words allow a meal that begins now."""
    left, right = _heard(view)
    return bool(
        (_IDLE.fullmatch(left) or _ASKS.fullmatch(left))
        and (_IDLE.fullmatch(right) or _ASKS.fullmatch(right) or right == "I will eat.")
    )


# Leader election.

_NUMBERS = re.compile(r"numbers leftwards (\d{1,4}(?: \d{1,4})*)\.")


def say_leader(view: View, coin: Coin) -> str:
    """Says its own number and those that it has heard from the seats to its left."""
    mine = _numbers(_own(view))
    number = mine[0] if mine else _number(view, coin)
    known = [number, *_numbers(_heard(view)[0])][: view.n]
    return f"Round {view.round}: numbers leftwards {' '.join(map(str, known))}."


def leader_election(view: View, coin: Coin) -> Action | None:
    """Once the numbers have gone round the table, plays the wave from the seat with the largest sequence of numbers."""
    heard = _heard(view)
    if not all(heard):
        return lehmann_rabin(view, coin)
    mine, left = _numbers(_own(view)), _numbers(heard[0])
    electing = -(-view.n // _talk(view).of) - 1  # whole rounds until the numbers have gone round
    if len(left) < view.n or left != [*mine[1:], mine[0]]:
        return Action.THINK if view.round <= electing else lehmann_rabin(view, coin)
    rows = [mine[away:] + mine[:away] for away in range(view.n)]
    begun = replace(view, seat=rows.index(max(rows)), round=view.round - electing, rounds=view.rounds - electing)
    return wave(begun, coin) if begun.rounds >= 3 else Action.THINK


def _numbers(words: str) -> list[int]:
    match = _NUMBERS.fullmatch(words)
    return [int(number) for number in match[1].split()] if match else []


# Turn-taking by agreed order.

_PLAN = re.compile(r"number (\d{1,4})(?:, meal (\d{1,9}) in round (\d{1,9}))?(?:, I will \w+)?\.")


@dataclass(frozen=True, slots=True)
class _Plan:
    """A seat's place in the order, and the count and first round of its next meal."""

    number: int
    meal: int = 0
    start: int = 0


def _plan(words: str) -> _Plan | None:
    match = _PLAN.fullmatch(words)
    return None if match is None else _Plan(int(match[1]), int(match[2] or 0), int(match[3] or 0))


def say_turn(view: View, coin: Coin) -> str:
    """Says its place in the order and when it begins its next meal, as soon as its neighbours' plans decide it."""
    plan = _replanned(view, coin)
    words = f"number {plan.number}" + (f", meal {plan.meal} in round {plan.start}" if plan.meal else "")
    action = _going_on(view) or (Action.PICK_UP_LEFT if plan.start == view.round and view.left is _FREE else None)
    return f"Round {view.round}: {words}" + (f", I will {action}." if action else ".")


def turn_taking(view: View, coin: Coin) -> Action | None:
    """Begins its meals in the rounds that it named."""
    plan = _plan(_own(view))
    if plan is None or not all(map(_plan, _heard(view))):
        return lehmann_rabin(view, coin)
    going_on = _going_on(view)
    if going_on is not None:
        return going_on
    return Action.PICK_UP_LEFT if plan.start == view.round and view.left is _FREE else Action.THINK


def _replanned(view: View, coin: Coin) -> _Plan:
    """The plan to announce now: the last one, until its meal has begun and the neighbours' plans decide the next."""
    own = _plan(_own(view)) or _Plan(_place(view.seat, view, coin))
    if own.meal and own.start >= view.round:
        return own
    sides = list(map(_plan, _heard(view)))
    if view.seat is not None and view.coin is None:
        # seat numbers give the neighbours' places before any message
        away = ((view.seat - 1) % view.n, (view.seat + 1) % view.n)
        sides = [side or _Plan(_place(seat, view, coin)) for side, seat in zip(sides, away, strict=True)]
    starts = _after(own, sides)
    return own if starts is None else replace(own, meal=own.meal + 1, start=max(view.round, *starts))


def _place(seat: int | None, view: View, coin: Coin) -> int:
    """The place in the order: even seats before odd ones; without a seat number at random."""
    if seat is None or view.coin is not None:
        return _number(view, coin)
    return seat if seat % 2 == 0 else seat + view.n


def _after(own: _Plan, sides: Sequence[_Plan | None]) -> list[int] | None:
    """The rounds before which the next meal must not begin, by the left and the right neighbour; None if not decided.

    Neighbours alternate, the lower place first (the left one if both are equal).
    """
    meal, starts = own.meal + 1, []
    for side, gap, left in zip(sides, (3, 2), (True, False), strict=True):
        if side is None:
            return None
        second = side.number <= own.number if left else side.number < own.number
        before = meal if second else meal - 1
        if side.meal < before:
            return None
        starts.append(side.start + gap if before else 1)
    return starts
