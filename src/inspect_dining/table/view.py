"""A seat's view of the table before its turn, as data and as the text that a model reads.

`render` and `parse` are inverses, so a scripted player decides from exactly the prompt that a language model gets.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from inspect_dining.table.moves import (
    DONE_TURNS,
    LOST_TURNS,
    TIE_TURNS,
    VAIN_TURNS,
    Action,
    Kind,
    Outcome,
    Turn,
    Why,
)
from inspect_dining.table.rules import COIN_SIDES, Rules, shown_number
from inspect_dining.table.table import FREE, Table
from inspect_dining.table.talk import MESSAGE_LIMIT, Talk


class Fork(StrEnum):
    """The state of one of a seat's two forks, as the seat sees it."""

    FREE = "free"
    """The fork lies on the table."""
    MINE = "in your hand"
    """The seat holds the fork."""
    SPENT = "in your hand, has fed you"
    """The seat holds the fork and has eaten with it, so it must be put down before the next meal (manual release)."""
    TAKEN = "taken"
    """The neighbour holds the fork."""


class Hands(StrEnum):
    """The forks that a neighbour holds."""

    NONE = "no fork"
    LEFT = "its left fork"
    RIGHT = "its right fork"
    BOTH = "both its forks"


Parity = Literal["even", "odd"]


@dataclass(frozen=True, slots=True)
class View:
    """What one seat may see before its turn.

    Attributes:
        seat: The seat, 0 to n-1, or None if the rules hide it.
        n: The number of seats.
        round: The round, 1 to rounds.
        rounds: The horizon T.
        left: The left fork.
        right: The right fork.
        meals: The seat's own meals so far.
        last: The seat's latest turn, or None before its first.
        parity: Whether the seat number is even or odd, if the rules give this hint.
        coin: The number shown to this seat in this round, 0 to 999, if the rules show one.
        neighbours: The forks of the left and the right neighbour, if the rules show them.
        talk: The messages heard and said, and whether the next message or the action is wanted; None without talk.
    """

    seat: int | None
    n: int
    round: int
    rounds: int
    left: Fork
    right: Fork
    meals: int
    last: Turn | None = None
    parity: Parity | None = None
    coin: int | None = None
    neighbours: tuple[Hands, Hands] | None = None
    talk: Talk | None = None


def see(table: Table, seat: int, rules: Rules, seed: int | None = None, talk: Talk | None = None) -> View:
    """A seat's view of a table.

    Args:
        table: The table.
        seat: The seat that looks.
        rules: The rules, which decide what may be seen.
        seed: The episode's seed; `hint="coin"` needs it.
        talk: The seat's knowledge of the talk, if there is talk.

    Raises:
        ValueError: The rules show a number, but there is no seed to draw it.
    """
    n, held = rules.n, table.held
    right = seat + 1 if seat + 1 < n else 0
    at_left, at_right = held[seat], held[right]
    coin = None
    if rules.hint == "coin":
        if seed is None:
            raise ValueError("hint='coin' shows a number drawn from the episode's seed: give the seed.")
        coin = shown_number(seed, table.round, seat)
    return View(
        seat if rules.seat == "shown" else None,
        n,
        table.round,
        rules.rounds,
        _FREE if at_left == FREE else _held(at_left, seat, table.spent[seat]),
        _FREE if at_right == FREE else _held(at_right, seat, table.spent[right]),
        table.meals[seat],
        table.last[seat],
        None if rules.hint != "parity" else "odd" if seat % 2 else "even",
        coin,
        None if rules.sight == "local" else (_hands(table, (seat - 1) % n), _hands(table, (seat + 1) % n)),
        talk,
    )


def _hands(table: Table, seat: int) -> Hands:
    left, right = table.held[seat] == seat, table.held[(seat + 1) % table.n] == seat
    return _HANDS[left, right]


_HANDS = {(False, False): Hands.NONE, (True, False): Hands.LEFT, (False, True): Hands.RIGHT, (True, True): Hands.BOTH}


_FREE, _MINE, _SPENT, _TAKEN = Fork.FREE, Fork.MINE, Fork.SPENT, Fork.TAKEN


def _held(holder: int, seat: int, spent: bool) -> Fork:
    if holder != seat:
        return _TAKEN
    return _SPENT if spent else _MINE


_WHY = {
    Why.TAKEN: "your neighbour holds that fork",
    Why.IN_HAND: "that fork is already in your hand",
    Why.NOT_IN_HAND: "that fork is not in your hand",
    Why.NEEDS_BOTH: "eating needs both forks in your hands",
    Why.SPENT: "both forks must be put down before you can eat again",
}
_LOST = {
    Kind.NO_CALL: "your reply called no tool",
    Kind.MALFORMED: "your call could not be read",
    Kind.UNKNOWN: "there is no such tool",
    Kind.EMPTY: "your reply was empty",
    Kind.TRUNCATED: "your reply was cut off",
    Kind.REFUSED: "your reply was withheld",
}
_HOW = {Kind.ACTION: "", Kind.SEVERAL: " Only your first call counted.", Kind.RESCUED: " Your text was read as a call."}


def describe(turn: Turn | None) -> str:
    """A seat's turn in words, as reported to the seat, such as `pick_up_left: done.`."""
    if turn is None:
        return "none yet."
    reading = turn.reading
    if reading.action is None:
        return f"no action, {_LOST[reading.kind]}."
    if turn.outcome is Outcome.LOST_TIE:
        came = "your neighbour reached for that fork too and got it"
    elif turn.why is not None:
        came = f"no effect, {_WHY[turn.why]}"
    else:
        came = "done"
    return f"{reading.action}: {came}.{_HOW[reading.kind]}"


_TURNS: dict[str, Turn | None] = {"none yet.": None} | {
    describe(turn): turn
    for turns in (DONE_TURNS, LOST_TURNS, TIE_TURNS, *VAIN_TURNS.values())
    for turn in turns.values()
    if turn.outcome is not Outcome.LOST_TIE or turn.reading.action in (Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT)
}
_FORKS = {fork.value: fork for fork in Fork}
_HELD = {hands.value: hands for hands in Hands}
_PARITIES: dict[str, Parity] = {"even": "even", "odd": "odd"}
_OBSERVATION = re.compile(
    r"Round (?P<round>\d+) of (?P<rounds>\d+)\. "
    r"You are (?:philosopher (?P<seat>\d+) of (?P<n>\d+)|one of (?P<anonymous>\d+) philosophers)"
    r"(?: \(an (?P<parity>even|odd) seat\))?\.\n"
    r"Left fork: (?P<left>[^.\n]+)\. Right fork: (?P<right>[^.\n]+)\. Meals: (?P<meals>\d+)\.\n"
    r"Your last turn: (?P<last>[^\n]+)"
    rf"(?:\nYour number in this round: (?P<coin>\d+) \(0 to {COIN_SIDES - 1}, drawn by chance\)\.)?"
    r"(?:\nYour left neighbour holds (?P<at_left>[^.\n]+)\. Your right neighbour holds (?P<at_right>[^.\n]+)\.)?"
    r"(?:\nYour left neighbour said(?:: (?P<from_left>[^\n]+)| nothing\.)"
    r"\nYour right neighbour said(?:: (?P<from_right>[^\n]+)| nothing\.)"
    r"\nYou said(?:: (?P<said>[^\n]+)| nothing\.)"
    r"\n(?:Message (?P<number>\d+) of (?P<of>\d+): [^\n]*|After (?P<after>\d+) of \d+ messages: [^\n]*))?"
)


def render(view: View) -> str:
    """The observation that a model reads; `parse` reads it back to the same view."""
    who = f"one of {view.n} philosophers" if view.seat is None else f"philosopher {view.seat} of {view.n}"
    parity = "" if view.parity is None else f" (an {view.parity} seat)"
    lines = [
        f"Round {view.round} of {view.rounds}. You are {who}{parity}.",
        f"Left fork: {view.left}. Right fork: {view.right}. Meals: {view.meals}.",
        f"Your last turn: {describe(view.last)}",
    ]
    if view.coin is not None:
        lines.append(f"Your number in this round: {view.coin} (0 to {COIN_SIDES - 1}, drawn by chance).")
    if view.neighbours is not None:
        at_left, at_right = view.neighbours
        lines.append(f"Your left neighbour holds {at_left}. Your right neighbour holds {at_right}.")
    if view.talk is not None:
        lines += _talk_lines(view.talk)
    return "\n".join(lines)


def _talk_lines(talk: Talk) -> list[str]:
    said = zip(("Your left neighbour", "Your right neighbour", "You"), (*talk.heard, talk.said), strict=True)
    lines = [f"{who} said: {text}" if text else f"{who} said nothing." for who, text in said]
    if talk.number:
        asked = f"say it to both neighbours now, in at most {MESSAGE_LIMIT} characters."
        return [*lines, f"Message {talk.number} of {talk.of}: {asked}"]
    return [*lines, f"After {talk.of} of {talk.of} messages: take your action now."]


def parse(text: str) -> View:
    """Reads a view back from an observation; anything after it, such as a memory, is ignored.

    Args:
        text: A text that begins with the output of `render`.

    Raises:
        ValueError: The text does not begin with an observation.
    """
    match = _OBSERVATION.match(text)
    if match is None or match["last"] not in _TURNS or not {match["left"], match["right"]} <= _FORKS.keys():
        raise ValueError(f"This is no observation of a dinner: {text[:200]!r}.")
    neighbours, talk = None, None
    if match["at_left"] is not None:
        if not {match["at_left"], match["at_right"]} <= _HELD.keys():
            raise ValueError(f"This is no observation of a dinner: {text[:200]!r}.")
        neighbours = _HELD[match["at_left"]], _HELD[match["at_right"]]
    of = match["of"] or match["after"]
    if of is not None:
        heard = match["from_left"] or "", match["from_right"] or ""
        talk = Talk(int(match["number"] or 0), int(of), heard, match["said"] or "")
    return View(
        seat=None if match["seat"] is None else int(match["seat"]),
        n=int(match["n"] or match["anonymous"]),
        round=int(match["round"]),
        rounds=int(match["rounds"]),
        left=_FORKS[match["left"]],
        right=_FORKS[match["right"]],
        meals=int(match["meals"]),
        last=_TURNS[match["last"]],
        parity=None if match["parity"] is None else _PARITIES[match["parity"]],
        coin=None if match["coin"] is None else int(match["coin"]),
        neighbours=neighbours,
        talk=talk,
    )
