"""The rules of one game, the seeds of its chance, and who wins a tie.

All chance is drawn by SHA-256 over a written-out key, so the same seed gives the same game in any process, on any
machine and in any order of replies.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from numbers import Integral
from typing import Literal, TypeGuard, TypeVar, get_args

from inspect_dining.table.faults import Fault, join_faults, parse_faults

T = TypeVar("T")

Order = Literal["simultaneous", "sequential"]
Release = Literal["auto", "manual"]
Ties = Literal["random", "rotate", "lowest"]
Hint = Literal["none", "parity", "coin"]
Sight = Literal["local", "neighbours"]
SeatNumber = Literal["shown", "hidden"]
TalkControl = Literal["none", "shuffled"]
Split = Literal["test", "train", "select"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one game.

    Attributes:
        n: Number of seats and of forks, at least 2.
        rounds: The horizon T: the maximum number of rounds, at least 3 (a first meal takes three).
        order: `simultaneous`: every seat decides on the table as it stood when the round began. `sequential`: seat 0
            to n-1 in turn, each on the current table.
        release: `auto`: both forks return at the end of the round of a meal. `manual`: they stay in hand, and both
            must be put down before the seat can eat again.
        ties: Who gets a free fork that both neighbours reach for: `random` (seeded); `rotate` (in round k fork i goes
            to seat i if k + i is even, else to its left neighbour); `lowest` (the lower seat number).
        patience: The number of consecutive rounds, each ending with every seat holding exactly one fork, that make a
            deadlock; at least 1.
        hint: `parity`: a seat's view says whether its seat number is even or odd. `coin`: it shows a number from 0 to
            999 that is drawn anew for every seat and round, so that identical players need not act alike.
        sight: `local`: a seat sees its own two forks. `neighbours`: also which forks its two neighbours hold.
        seat: `hidden`: a seat does not see its number.
        talk: The number of messages that each seat says to both neighbours in every round before its action; 0 for
            none.
        talk_control: `shuffled`: a placebo in which a seat hears, instead of its neighbours, the messages of another
            round of another game. It needs talk.
        faults: Faults by seat, each with its first round (see `faults`), such as
            `2:silent@10,4:crash@first_fork`; empty for nothing.

    Raises:
        ValueError: A value is not accepted.
    """

    n: int
    rounds: int = 30
    order: Order = "simultaneous"
    release: Release = "auto"
    ties: Ties = "random"
    patience: int = 1
    hint: Hint = "none"
    sight: Sight = "local"
    seat: SeatNumber = "shown"
    talk: int = 0
    talk_control: TalkControl = "none"
    faults: str = ""

    def __post_init__(self) -> None:
        for name, least, reason in (
            ("n", 2, "a table needs at least two seats"),
            ("rounds", 3, "a first meal takes three rounds"),
            ("patience", 1, "it counts the rounds that make a deadlock"),
            ("talk", 0, "it counts the messages of a seat in a round"),
        ):
            object.__setattr__(self, name, _whole_number(name, getattr(self, name), least, reason))
        for name, accepted in OPTIONS.items():
            value = getattr(self, name)
            if value not in accepted:
                raise ValueError(f"{name}={value!r} is not known; accepted: {', '.join(accepted)}.")
        if self.talk_control != "none" and self.talk == 0:
            raise ValueError(f"talk_control={self.talk_control!r} needs talk=1 or more: without talk nothing is heard.")
        if not isinstance(self.faults, str):
            raise ValueError(f"faults={self.faults!r} is not accepted: give a string such as 2:silent@10.")
        object.__setattr__(self, "faults", join_faults(self.seat_faults))
        liar = next((fault for fault in self.seat_faults if fault.kind == "liar"), None)
        if liar is not None and self.talk == 0:
            raise ValueError(f"The fault '{liar}' announces what it does not do, so it needs talk=1 or more.")

    @property
    def seat_faults(self) -> tuple[Fault, ...]:
        """The faults, in the order of seats."""
        return parse_faults(self.faults, self.n, self.rounds) if self.faults else ()

    def options(self) -> dict[str, str | int]:
        """The rules as plain values, with n, rounds and only those options that are not at their default."""
        plain: dict[str, str | int] = {"n": self.n, "rounds": self.rounds}
        return plain | {name: getattr(self, name) for name in NAMES if getattr(self, name) != _DEFAULTS[name]}

    @property
    def unsaid(self) -> dict[str, object]:
        """The options added later that are at their default."""
        return {name: _DEFAULTS[name] for name in LATER if getattr(self, name) == _DEFAULTS[name]}

    @property
    def calls(self) -> int:
        """The most model calls of a game: one per turn and one per message, and twice as many under the placebo."""
        return self.n * self.rounds * (self.talk + 1) * (1 if self.talk_control == "none" else 2)

    @property
    def version(self) -> int:
        """The oldest version of the record's format that knows all of these rules."""
        return max([1, *(_SINCE.get(name, _SINCE.get(f"{name}={value}", 1)) for name, value in self.options().items())])


OPTIONS: dict[str, tuple[str, ...]] = {
    "order": get_args(Order),
    "release": get_args(Release),
    "ties": get_args(Ties),
    "hint": get_args(Hint),
    "sight": get_args(Sight),
    "seat": get_args(SeatNumber),
    "talk_control": get_args(TalkControl),
}
"""The accepted values of each option with named values."""
_FIRST = ("order", "release", "ties", "hint", "patience")
NAMES: tuple[str, ...] = (*_FIRST, *(f.name for f in fields(Rules) if f.name not in ("n", "rounds", *_FIRST)))
"""Every option of the rules, in the order in which a record writes them: version 1's first, later ones as declared."""
LATER: tuple[str, ...] = NAMES[len(_FIRST) :]
"""The options added later; while they are at their default, tables need not name them."""
_DEFAULTS: dict[str, object] = {f.name: f.default for f in fields(Rules)}
_SINCE: dict[str, int] = {"hint=coin": 2, "sight": 2, "seat": 2, "talk": 2, "talk_control": 2, "faults": 2}
"""The version of the record's format that introduced an option (`name`) or one of its values (`name=value`), if it is
not the first. A record is written in the oldest version that supports its rules, so old records do not change."""


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number; True and False are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def plain_int(value: object) -> object:
    """Converts a whole number of another library, such as numpy, to a Python int; returns anything else as it is."""
    if isinstance(value, bool) or type(value) is int:
        return value
    return int(value) if isinstance(value, Integral) else value


def check_seed(seed: object) -> int:
    """An episode seed as a plain int.

    Raises:
        ValueError: The seed is not a whole number from 0 to 2**64 - 1.
    """
    number = plain_int(seed)
    if not is_whole(number) or not 0 <= number < 2**64:
        raise ValueError(f"seed={seed!r} is not accepted: a seed must be a whole number from 0 to 2**64 - 1.")
    return number


def _whole_number(name: str, value: object, least: int, reason: str) -> int:
    value = plain_int(value)
    if not is_whole(value) or value < least:
        raise ValueError(
            f"{name}={value!r} is not accepted: {name} must be a whole number of at least {least} ({reason})."
        )
    return value


def sample_id(n: int, seed: int, episode: int) -> str:
    """The stable name of one game, such as `n05-s0-e007`."""
    return f"n{n:02d}-s{seed}-e{episode:03d}"


def episode_seed(split: Split, name: str) -> int:
    """The seed of one episode: the first 8 bytes of SHA-256 of `inspect_dining/1/<split>/<sample id>`.

    Args:
        split: `test` for evaluations; `train` and `select` for training.
        name: The sample id.

    Returns:
        A number from 0 to 2**64 - 1.
    """
    return int.from_bytes(sha256(f"inspect_dining/1/{split}/{name}".encode()).digest()[:8], "big")


@lru_cache(maxsize=4096)
def _tie_bits(seed: int, number: int) -> int:
    """The 256 fair coins of one round of one game."""
    return int.from_bytes(sha256(f"tie/{seed}/{number}".encode()).digest(), "big")


def tie_winner(rules: Rules, seed: int, number: int, fork: int) -> int:
    """The seat that gets a free fork for which both neighbours reach.

    Args:
        rules: The rules; `ties` decides.
        seed: The episode's seed.
        number: The round, counted from 1.
        fork: The contested fork, 0 to n-1; the seats are `fork` (its left) and `fork - 1` (its right).

    Returns:
        One of the two seats.
    """
    owner, other = fork, (fork - 1) % rules.n
    if rules.ties == "lowest":
        return min(owner, other)
    if rules.ties == "rotate":
        return owner if (number + fork) % 2 == 0 else other
    if fork < 256:
        return owner if _tie_bits(seed, number) >> fork & 1 else other
    return owner if sha256(f"tie/{seed}/{number}/{fork}".encode()).digest()[0] & 1 else other


COIN_SIDES = 1000
"""The number of values of a shown coin: 0 to 999."""


def shown_number(seed: int, number: int, seat: int) -> int:
    """The number that `hint="coin"` shows to a seat in a round, 0 to `COIN_SIDES` - 1, all equally likely."""
    return int.from_bytes(sha256(f"number/{seed}/{number}/{seat}".encode()).digest()[:12], "big") % COIN_SIDES


class Coin:
    """The random draws of one scripted turn, keyed by (seed, epoch, round, seat), so the order of play does not matter.

    Each call of a method draws afresh; the n-th draw of a key is always the same.
    """

    __slots__ = ("_draws", "_key")

    def __init__(self, *key: int | str) -> None:
        """Keys the coin, usually by (seed, epoch, round, seat)."""
        self._key = key
        self._draws = 0

    def random(self) -> float:
        """A number from 0 (included) to 1 (excluded)."""
        key = "/".join(map(str, ("coin", *self._key, self._draws)))
        self._draws += 1
        return int.from_bytes(sha256(key.encode()).digest()[:6], "big") / 2**48

    def choice(self, options: Sequence[T]) -> T:
        """One of the options, all equally likely."""
        return options[int(self.random() * len(options))]
