"""Faults: what can go wrong with a seat, as a rule of the game.

A fault is written `SEAT:KIND@BEGINS`, and several are separated by commas: `2:silent@10,4:crash@first_fork`. From the
round in which it begins, the game takes the seat's turns itself. The actions of a faulty seat are turns in the record
like any other, and replay checks them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal, TypeGuard, get_args

FaultKind = Literal["silent", "crash", "hog", "random", "delayed", "liar"]
FIRST_FORK = "first_fork"
"""A fault that begins in the first round at whose start the seat holds a fork."""
SYNTAX = "SEAT:KIND@BEGINS, such as 2:silent@10 or 4:crash@first_fork (3:delayed=2 acts on what it saw 2 rounds ago)"
"""How a fault is written."""

_FAULT = re.compile(r"(?P<seat>\d+):(?P<kind>[a-z_]+)(?:=(?P<delay>\d+))?(?:@(?P<begins>\d+|[a-z_]+))?")


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of one seat.

    Attributes:
        seat: The seat, 0 to n-1.
        kind: `silent`: it puts down what it holds, one fork per turn, and then does nothing (it leaves). `crash`: it
            does nothing and keeps what it holds. `hog`: it takes whatever is free and releases nothing. `random`: it
            takes any of the six actions by a coin of the game's seed. `delayed`: it decides on the table of `delay`
            rounds ago and can do nothing in the first `delay` rounds. `liar`, with talk: in every message of a round it
            announces one action and then does another; both are drawn from the game's seed.
        begins: The first round in which it applies, or `first_fork`.
        delay: The delay of a delayed seat in rounds, else 0.
    """

    seat: int
    kind: FaultKind
    begins: int | str = 1
    delay: int = 0

    def __str__(self) -> str:
        late = f"={self.delay}" if self.delay else ""
        return f"{self.seat}:{self.kind}{late}" + ("" if self.begins == 1 else f"@{self.begins}")

    @property
    def forced(self) -> bool:
        """Whether the game takes the seat's turns once the fault has begun; a delayed seat decides for itself."""
        return self.kind != "delayed"


@lru_cache(maxsize=1024)
def parse_faults(text: str, n: int, rounds: int) -> tuple[Fault, ...]:
    """The faults of a game, in the order of seats.

    Args:
        text: Faults in written form, separated by commas; empty for none.
        n: Seats.
        rounds: The horizon T.

    Raises:
        ValueError: A fault is not accepted, a seat has two faults, or no seat is without a fault.
    """
    faults = sorted((_parse(one.strip(), n, rounds) for one in text.split(",") if text.strip()), key=_seat)
    seats = [fault.seat for fault in faults]
    twice = next((seat for seat in seats if seats.count(seat) > 1), None)
    if twice is not None:
        raise ValueError(f"faults={text!r} gives seat {twice} two faults; a seat takes one.")
    if faults and len(faults) == n:
        raise ValueError(f"faults={text!r} leaves none of the {n} seats without a fault; at least one is needed.")
    return tuple(faults)


def join_faults(faults: Sequence[Fault]) -> str:
    """Faults in the written form of a record, in the order of seats."""
    return ",".join(map(str, sorted(faults, key=_seat)))


def _seat(fault: Fault) -> int:
    return fault.seat


def _parse(text: str, n: int, rounds: int) -> Fault:
    match = _FAULT.fullmatch(text)
    if match is None:
        raise ValueError(f"The fault {text!r} cannot be read; it is written {SYNTAX}.")
    seat, kind, begins = int(match["seat"]), match["kind"], match["begins"] or "1"
    if seat >= n:
        raise ValueError(f"The fault {text!r} names seat {seat}; the seats of a table of {n} are 0 to {n - 1}.")
    if not _is_kind(kind):
        near = get_close_matches(kind, get_args(FaultKind), n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ValueError(f"There is no kind of fault {kind!r}.{hint} Accepted: {', '.join(get_args(FaultKind))}.")
    if (kind == "delayed") != (match["delay"] is not None):
        raise ValueError(f"The fault {text!r} cannot be read: delayed takes a number of rounds, and nothing else does.")
    delay = int(match["delay"] or 0)
    if kind == "delayed" and not 1 <= delay < rounds:
        raise ValueError(f"The fault {text!r} delays by {delay} rounds; 1 to {rounds - 1} are accepted.")
    if begins.isdigit():
        if not 1 <= int(begins) <= rounds:
            raise ValueError(f"The fault {text!r} begins in round {begins}; rounds 1 to {rounds} are accepted.")
        return Fault(seat, kind, int(begins), delay)
    if begins != FIRST_FORK:
        raise ValueError(f"The fault {text!r} begins at {begins!r}; a round or {FIRST_FORK} is accepted.")
    return Fault(seat, kind, begins, delay)


def _is_kind(word: str) -> TypeGuard[FaultKind]:
    return word in get_args(FaultKind)
