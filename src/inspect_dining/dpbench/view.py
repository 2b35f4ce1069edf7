"""A philosopher's view before it speaks or acts, as data and as the text that a model reads.

`render` and `parse` are inverses, so a scripted player decides from exactly the prompt that a language model gets. The
content is dpbench's: its own state and meals, its two forks, what it holds, its neighbours' messages, and with memory
the latest states of the whole table. No timestep is shown.
"""

import re
from dataclasses import dataclass

from inspect_dining.dpbench.table import Table


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One remembered state of the whole table.

    Attributes:
        timestep: The timestep of the state.
        philosophers: For each philosopher, whether it was eating, held left, held right, and its meals.
        deadlock: Whether the table had just deadlocked.
    """

    timestep: int
    philosophers: tuple[tuple[bool, bool, bool, int], ...]
    deadlock: bool

    @staticmethod
    def of(table: Table, deadlock: bool) -> "Snapshot":
        """A table as a remembered state."""
        return Snapshot(
            table.timestep, tuple(zip(table.eating, table.left, table.right, table.meals, strict=True)), deadlock
        )


@dataclass(frozen=True, slots=True)
class View:
    """One philosopher's view.

    Attributes:
        seat: The philosopher, 0 to n-1.
        n: The number of philosophers.
        eating: Whether it is eating; else it is hungry.
        meals: Its meals.
        left_available: Whether its left fork is free or its own.
        right_available: The same for its right fork.
        holds_left: Whether it counts its left fork as held.
        holds_right: The same for its right fork.
        talking: Whether messages are exchanged at all.
        left_message: The left neighbour's message, or None.
        right_message: The right neighbour's message, or None.
        discussion: The current round of messages, counted from 1; 0 when an action is wanted.
        discussions: The number of rounds of messages in the step.
        memory: The remembered states, oldest first.
    """

    seat: int
    n: int
    eating: bool
    meals: int
    left_available: bool
    right_available: bool
    holds_left: bool
    holds_right: bool
    talking: bool = False
    left_message: str | None = None
    right_message: str | None = None
    discussion: int = 0
    discussions: int = 0
    memory: tuple[Snapshot, ...] = ()


_DISCUSS = "Round {} of {} of messages before everyone acts. Say to your neighbours what you mean to do.\n"
_ACT = "It is time to act.\n"


def render(view: View) -> str:
    """The observation that a model reads; `parse` reads it back."""
    holding = " and ".join([side for side, held in _sides(view) if held]) or "none"
    left, right = _fork(view.left_available), _fork(view.right_available)
    lines = [
        f"You are P{view.seat}, one of {view.n}. You are {_state(view.eating)}. Meals: {view.meals}.",
        f"Left fork: {left}. Right fork: {right}. Forks you hold: {holding}.",
    ]
    if view.talking:
        lines += [
            f"Your left neighbour said: {_quote(view.left_message)}",
            f"Your right neighbour said: {_quote(view.right_message)}",
        ]
    lines += [_line(then) for then in view.memory]
    opening = _DISCUSS.format(view.discussion, view.discussions) if view.discussion else _ACT
    return opening + "\n".join(lines)


def _sides(view: View) -> tuple[tuple[str, bool], tuple[str, bool]]:
    return ("left", view.holds_left), ("right", view.holds_right)


def _state(eating: bool) -> str:
    return "eating" if eating else "hungry"


def _fork(available: bool) -> str:
    return "AVAILABLE" if available else "TAKEN"


def _quote(message: str | None) -> str:
    """A message on one line, in quotes that nothing within it can close."""
    return "nothing" if message is None else f'"{message}"'


def _line(then: Snapshot) -> str:
    seats = (
        f"P{seat} {_state(eating)} {'L' if left else ''}{'R' if right else ''}{'' if left or right else '-'} {meals}"
        for seat, (eating, left, right, meals) in enumerate(then.philosophers)
    )
    return f"At timestep {then.timestep}{' (deadlock)' if then.deadlock else ''}: {', '.join(seats)}"


_OBSERVATION = re.compile(
    r"(?:Round (?P<discussion>\d+) of (?P<discussions>\d+) of messages [^\n]*|It is time to act\.)\n"
    r"You are P(?P<seat>\d+), one of (?P<n>\d+)\. You are (?P<state>eating|hungry)\. Meals: (?P<meals>\d+)\.\n"
    r"Left fork: (?P<left>AVAILABLE|TAKEN)\. Right fork: (?P<right>AVAILABLE|TAKEN)\. "
    r"Forks you hold: (?P<holds>none|left|right|left and right)\."
    r"(?:\nYour left neighbour said: (?P<from_left>[^\n]+)\nYour right neighbour said: (?P<from_right>[^\n]+))?"
    r"(?P<memory>(?:\nAt timestep [^\n]+)*)"
)
_THEN = re.compile(r"At timestep (?P<timestep>\d+)(?P<deadlock> \(deadlock\))?: (?P<seats>[^\n]+)")
_SEAT = re.compile(r"P\d+ (?P<state>eating|hungry) (?P<forks>-|L|R|LR) (?P<meals>\d+)")


def is_observation(text: str) -> bool:
    """Whether a text begins with an observation of this game."""
    return _OBSERVATION.match(text) is not None


def parse(text: str) -> View:
    """Reads a view back from an observation; anything after it is ignored.

    Raises:
        ValueError: The text does not begin with an observation.
    """
    match = _OBSERVATION.match(text)
    if match is None:
        raise ValueError(f"This is no observation of a DPBench game: {text[:200]!r}.")
    holds = match["holds"]
    return View(
        seat=int(match["seat"]),
        n=int(match["n"]),
        eating=match["state"] == "eating",
        meals=int(match["meals"]),
        left_available=match["left"] == "AVAILABLE",
        right_available=match["right"] == "AVAILABLE",
        holds_left="left" in holds,
        holds_right="right" in holds,
        talking=match["from_left"] is not None,
        left_message=_unquote(match["from_left"]),
        right_message=_unquote(match["from_right"]),
        discussion=int(match["discussion"] or 0),
        discussions=int(match["discussions"] or 0),
        memory=tuple(
            Snapshot(
                int(then["timestep"]),
                tuple(
                    (one["state"] == "eating", "L" in one["forks"], "R" in one["forks"], int(one["meals"]))
                    for one in _SEAT.finditer(then["seats"])
                ),
                then["deadlock"] is not None,
            )
            for then in _THEN.finditer(match["memory"])
        ),
    )


def _unquote(text: str | None) -> str | None:
    return None if text is None or text == "nothing" else text[1:-1]
