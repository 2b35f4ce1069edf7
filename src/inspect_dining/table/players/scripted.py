"""Scripted players: strategies that decide from a view alone, with no model, network or memory.

Each states what it may know. They set the scale for reading any model, prove that every game is solvable, and can take
seats next to models. All but `silent`, `think` and `random` eat when they can and, under manual release, put down forks
that have fed them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from inspect_dining.table.moves import Action
from inspect_dining.table.players import strategies, talkers
from inspect_dining.table.rules import Coin, Rules
from inspect_dining.table.view import View

Decide = Callable[[View, Coin], Action | None]
Say = Callable[[View, Coin], str]


@dataclass(frozen=True, slots=True)
class Scripted:
    """A scripted player.

    Attributes:
        name: Its name, as in `dining/<name>`.
        knows: The parts of the view that it uses, in words.
        decide: Takes a view and the coin of that turn; returns an action, or None for no call at all.
        tosses: Whether it ever tosses the coin; if not, any coin will do.
        needs: What it must know of its seat number.
        say: Takes a view that asks for a message, and the same coin; returns the message. None for a player without
            talk, which stays silent.
    """

    name: str
    knows: str
    decide: Decide
    tosses: bool = False
    needs: Literal["nothing", "parity", "seat"] = "nothing"
    say: Say | None = None

    def fits(self, rules: Rules) -> bool:
        """Whether the rules show what this player needs."""
        return rules.seat == "shown" or self.needs == "nothing" or (self.needs == "parity" and rules.hint == "parity")

    def check(self, rules: Rules) -> None:
        """Checks that the rules show what this player needs.

        Raises:
            ValueError: They do not.
        """
        if not self.fits(rules):
            remedy = "seat='shown' or hint='parity'" if self.needs == "parity" else "seat='shown'"
            raise ValueError(
                f"The player {self.name} needs its seat number, which seat='hidden' hides; play by {remedy}."
            )


_PLAYERS = (
    Scripted("silent", "Nothing; it never calls a tool.", strategies.silent),
    Scripted("think", "Nothing; it always thinks.", strategies.think),
    Scripted(
        "random",
        "Nothing but a coin: any of the six actions, each with the same chance.",
        strategies.random_action,
        tosses=True,
    ),
    Scripted("left_first", "Its forks. All alike take the left fork and lock.", strategies.left_first),
    Scripted(
        "hierarchy",
        "Its forks, its seat and n: the lower-numbered fork first (Dijkstra's order).",
        strategies.hierarchy,
        needs="seat",
    ),
    Scripted(
        "odd_even",
        "Its forks and whether its seat is even: even seats left first, odd seats right first.",
        strategies.odd_even,
        needs="parity",
    ),
    Scripted(
        "even_odd",
        "Its forks and whether its seat is even: the mirror of odd_even, even seats right first.",
        strategies.even_odd,
        needs="parity",
    ),
    Scripted(
        "backoff",
        "Its forks and a coin: left first, and half the time it lets go if the right one is taken.",
        strategies.backoff,
        tosses=True,
    ),
    Scripted(
        "lehmann_rabin",
        "Its forks and a coin that decides which fork is first; it lets go if the other is taken.",
        strategies.lehmann_rabin,
        tosses=True,
    ),
    Scripted(
        "courteous",
        "Its forks and a coin: half the time it reaches if both are free, and it lets go if the other is taken.",
        strategies.courteous,
        tosses=True,
    ),
    Scripted(
        "wave",
        "Its forks, seat, n, the round and T: the best schedule by the clock (made for automatic release).",
        strategies.wave,
        needs="seat",
    ),
    Scripted(
        "wary",
        "What the wave uses and its meals: the wave, but if it has fewer meals than scheduled (among strangers or "
        "next to a fault), it reaches only if both forks are free.",
        strategies.wary,
        needs="seat",
    ),
    Scripted(
        "announce_yield",
        "Its forks, meals, number and its neighbours' words: says what it will do, and asks before it begins a meal.",
        talkers.announce_yield,
        tosses=True,
        say=talkers.say_announce,
    ),
    Scripted(
        "leader_election",
        "Its forks, n, the clock, its number and its neighbours' words: numbers go round the table, then the wave.",
        talkers.leader_election,
        tosses=True,
        say=talkers.say_leader,
    ),
    Scripted(
        "turn_taking",
        "Its forks, the round, its number and its neighbours' words: says when it will begin; neighbours alternate.",
        talkers.turn_taking,
        tosses=True,
        say=talkers.say_turn,
    ),
    Scripted("hog", "Its forks; it takes whatever is free and lets go of nothing it need not.", strategies.hog),
)
SCRIPTED: dict[str, Scripted] = {player.name: player for player in _PLAYERS}
"""The scripted players by name."""


def players_under(rules: Rules) -> tuple[str, ...]:
    """The scripted players that suit the given rules, by name.

    Without talk, the talking players are left out, since they would play `lehmann_rabin`; without seat numbers, those
    that need one are left out.
    """
    return tuple(name for name, player in SCRIPTED.items() if (rules.talk or not player.say) and player.fits(rules))


def scripted(name: str) -> Scripted:
    """Finds a scripted player by name.

    Raises:
        ValueError: There is no such player; the message suggests the nearest name and lists all names.
    """
    if name in SCRIPTED:
        return SCRIPTED[name]
    near = get_close_matches(name, SCRIPTED, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise ValueError(f"There is no scripted player {name!r}.{hint} Accepted: {', '.join(SCRIPTED)}.")
