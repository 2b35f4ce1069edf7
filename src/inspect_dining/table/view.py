"""What a seat may see of the table before its turn, as data and as the text that a model reads.

`render` and `parse` are inverse, so a scripted player decides from exactly the prompt that a language model gets.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

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
from inspect_dining.table.rules import Hint, Rules
from inspect_dining.table.table import FREE, Table


class Fork(StrEnum):
    """How one of its two forks looks to a seat."""

    FREE = "free"
    """It lies on the table."""
    MINE = "in your hand"
    """The seat holds it."""
    SPENT = "in your hand, has fed you"
    """The seat holds it and has eaten with it: it must be put down before the next meal (manual release)."""
    TAKEN = "taken"
    """The neighbour holds it."""


@dataclass(frozen=True, slots=True)
class View:
    """What one seat may see before its turn.

    Attributes:
        seat: The seat, 0 to n-1.
        n: The number of seats.
        round: The round, 1 to rounds.
        rounds: The horizon T.
        left: The left fork.
        right: The right fork.
        meals: The seat's own meals so far.
        last: The seat's latest turn, or None before its first.
        hint: `parity` if the view says whether the seat number is even or odd.
    """

    seat: int
    n: int
    round: int
    rounds: int
    left: Fork
    right: Fork
    meals: int
    last: Turn | None = None
    hint: Hint = "none"


def see(table: Table, seat: int, rules: Rules) -> View:
    """What a seat sees of a table."""
    n, held = rules.n, table.held
    right = seat + 1 if seat + 1 < n else 0
    at_left, at_right = held[seat], held[right]
    return View(
        seat,
        n,
        table.round,
        rules.rounds,
        _FREE if at_left == FREE else _held(at_left, seat, table.spent[seat]),
        _FREE if at_right == FREE else _held(at_right, seat, table.spent[right]),
        table.meals[seat],
        table.last[seat],
        rules.hint,
    )


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
    """A seat's turn in words, as the seat is told, such as `pick_up_left: done.`."""
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
_OBSERVATION = re.compile(
    r"Round (?P<round>\d+) of (?P<rounds>\d+)\. You are philosopher (?P<seat>\d+) of (?P<n>\d+)"
    r"(?: \(an (?P<parity>even|odd) seat\))?\.\n"
    r"Left fork: (?P<left>[^.\n]+)\. Right fork: (?P<right>[^.\n]+)\. Meals: (?P<meals>\d+)\.\n"
    r"Your last turn: (?P<last>[^\n]+)"
)


def render(view: View) -> str:
    """The observation that a model reads; `parse` reads it back to the same view."""
    parity = "" if view.hint == "none" else f" (an {'odd' if view.seat % 2 else 'even'} seat)"
    return (
        f"Round {view.round} of {view.rounds}. You are philosopher {view.seat} of {view.n}{parity}.\n"
        f"Left fork: {view.left}. Right fork: {view.right}. Meals: {view.meals}.\n"
        f"Your last turn: {describe(view.last)}"
    )


def parse(text: str) -> View:
    """Reads a view back from an observation; anything after its three lines (a memory, say) is passed over.

    Args:
        text: A text that begins with what `render` gave.

    Raises:
        ValueError: The text does not begin with an observation.
    """
    match = _OBSERVATION.match(text)
    if match is None or match["last"] not in _TURNS or not {match["left"], match["right"]} <= _FORKS.keys():
        raise ValueError(f"This is no observation of a dinner: {text[:200]!r}.")
    return View(
        seat=int(match["seat"]),
        n=int(match["n"]),
        round=int(match["round"]),
        rounds=int(match["rounds"]),
        left=_FORKS[match["left"]],
        right=_FORKS[match["right"]],
        meals=int(match["meals"]),
        last=_TURNS[match["last"]],
        hint="none" if match["parity"] is None else "parity",
    )
