"""Talk: messages, and what a seat hears.

A seat says a message to both neighbours at once; an empty string is silence. Under `talk_control="shuffled"` a seat
hears what some seat heard in another round of another game (the donor): as many messages of the same kind, but without
useful information.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from inspect_dining.table.rules import Rules

MESSAGE_LIMIT = 200
"""The maximum number of characters in a message."""
Exchange = tuple[str, ...]
"""One message of each seat, by seat."""
Messages = tuple[tuple[Exchange, ...], ...]
"""The exchanges of each round, in order."""
Heard = tuple[str, str]
"""The last messages of the left and the right neighbour; an empty string is silence."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A seat's knowledge of the talk.

    Attributes:
        number: The message of the round that is wanted now, from 1; 0 if the action is wanted.
        of: The number of messages in a round.
        heard: The last messages of the left and the right neighbour.
        said: The seat's own last message.
    """

    number: int
    of: int
    heard: Heard = ("", "")
    said: str = ""


def as_message(text: str) -> str:
    """Converts a text to the message that others hear: one line of at most `MESSAGE_LIMIT` printable characters.

    Whitespace is folded into single spaces and unprintable characters are left out, so that no message can look like
    another line of an observation.
    """
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(printable.split())[:MESSAGE_LIMIT].rstrip()


@dataclass(frozen=True, slots=True)
class Said:
    """The latest message of a seat.

    Attributes:
        round: The round in which it was said, from 1; 0 before anything was said.
        exchange: Its exchange in that round, from 0.
        text: The message.
    """

    round: int = 0
    exchange: int = 0
    text: str = ""


def hear(rules: Rules, seed: int, seat: int, latest: Sequence[Said], donor: Messages) -> Heard:
    """What a seat hears.

    Args:
        rules: The rules, whose `talk_control` decides.
        seed: The episode's seed, which keys the placebo.
        seat: The listening seat.
        latest: The latest message of every seat.
        donor: The messages of another game, for the placebo.

    Returns:
        The last messages of the left and the right neighbour, or what is heard instead.
    """
    n = rules.n
    left, right = latest[(seat - 1) % n], latest[(seat + 1) % n]
    if rules.talk_control == "none":
        return left.text, right.text
    return _instead(seed, seat, left, donor, -1), _instead(seed, seat, right, donor, 1)


def _instead(seed: int, seat: int, said: Said, donor: Messages, side: int) -> str:
    """What a seat hears in place of a message: one from the same exchange in another round, near another seat."""
    rounds = [exchanges for number, exchanges in enumerate(donor, 1) if number != said.round]
    if not rounds or said.round == 0:
        return ""
    draw = sha256(f"placebo/{seed}/{said.round}/{seat}".encode()).digest()
    exchange = rounds[int.from_bytes(draw[:8], "big") % len(rounds)][said.exchange]
    other = int.from_bytes(draw[8:16], "big") % len(exchange)
    return exchange[(other + side) % len(exchange)]


def donor_seed(seed: int) -> int:
    """The seed of the game whose messages are heard instead under `talk_control="shuffled"`."""
    return int.from_bytes(sha256(f"donor/{seed}".encode()).digest()[:8], "big")
