"""The games behind the table of docs/protocol.md; run as a script it writes them: docs/data/protocol.csv.

python -m tests.analysis.protocols
"""

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from inspect_dining.analysis.comparison.talk_price import calls_of
from inspect_dining.audit.seat_blind import BEST_FOUND, player_of
from inspect_dining.files import write
from inspect_dining.scorers.terms import terms
from inspect_dining.table import Rules, play
from inspect_dining.table.players.playing import Player

FILE = Path(__file__).parents[2] / "docs" / "data" / "protocol.csv"
HEAD = ("protocol", "player", "seed", "meals", "deadlocked", "calls")
GAMES = 200
HIDDEN = Rules(5, 30, hint="coin", seat="hidden")
PROTOCOLS: dict[str, tuple[Rules, str, str | Player]] = {
    "no talk": (Rules(5, 30), "odd_even", "odd_even"),
    "no talk, hidden seats, a coin": (HIDDEN, "lehmann_rabin", "lehmann_rabin"),
    "the same": (HIDDEN, "the best policy found", player_of(BEST_FOUND[5])),
    "talk=1": (Rules(5, 30, talk=1), "turn_taking", "turn_taking"),
    "talk=2": (Rules(5, 30, talk=2), "announce_yield", "announce_yield"),
    "talk=5, hidden seats, a coin": (
        Rules(5, 30, hint="coin", seat="hidden", talk=5),
        "leader_election",
        "leader_election",
    ),
    "talk=1, placebo": (Rules(5, 30, talk=1, talk_control="shuffled"), "turn_taking", "turn_taking"),
}
"""For each protocol its rules, its player's name, and the player."""


def rows(protocol: str, seeds: Iterable[int]) -> Iterator[tuple[str, ...]]:
    """The rows of some games of a protocol."""
    rules, name, player = PROTOCOLS[protocol]
    for seed in seeds:
        record = play(rules, player, seed)
        meals = terms(record).eaten
        yield protocol, name, str(seed), str(meals), str(int(record.deadlocked)), str(calls_of(record))


def written() -> str:
    """The whole file."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(HEAD)
    for protocol in PROTOCOLS:
        table.writerows(rows(protocol, range(GAMES)))
    return text.getvalue()


if __name__ == "__main__":
    write(FILE, written())
