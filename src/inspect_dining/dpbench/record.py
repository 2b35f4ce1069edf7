"""The record of a DPBench game: only its inputs, from which metrics and replay derive.

As in `table.record`: rules, seed, how the game ended; for each round, a code for every philosopher, the messages, and a
hash of the table after it. Messages are inputs, since philosophers' views depend on them; each has at most 200
characters.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from inspect_dining.dpbench.reading import CODES, MESSAGE_LENGTH, Reply
from inspect_dining.dpbench.rules import DPBenchRules
from inspect_dining.dpbench.table import Action
from inspect_dining.table.moves import Kind
from inspect_dining.table.record import DEADLOCK, HORIZON, cut
from inspect_dining.table.rules import check_seed

__all__ = ["DEADLOCK", "DPBENCH_RECORD", "HORIZON", "VERSION", "Record", "Round"]

VERSION = 1
"""The version of the record's format and of the rules it is replayed by."""
DPBENCH_RECORD = "inspect_dining:dpbench"
"""The key under which a sample's store holds its record in Inspect's log."""
_CUT = cut("")
_SEED = re.compile("0|[1-9][0-9]{0,19}")


@dataclass(frozen=True, slots=True)
class Round:
    """One round: a simultaneous timestep, or a pass over the table.

    Attributes:
        codes: For each philosopher, the code of its reading (see `reading.CODES`).
        said: With communication, each one's messages in each round of messages and, last, with its action; else empty.
        hash: The hash of the table after the round.
    """

    codes: str
    said: tuple[tuple[str | None, ...], ...]
    hash: str

    def reply(self, seat: int, discussion: int) -> Reply:
        """The reply of one philosopher: its message in a round of messages, or (0) its action."""
        if discussion:
            return Reply(Kind.ACTION, Action.WAIT, self.said[discussion - 1][seat])
        kind, action = CODES[self.codes[seat]]
        return Reply(kind, action, self.said[-1][seat] if self.said else None)


@dataclass(frozen=True, slots=True)
class Record:
    """One episode.

    Attributes:
        rules: The rules of the game.
        seed: The episode's seed, 0 to 2**64 - 1.
        ended: `deadlock`, `horizon`, or `cut: <reason>` for a game that did not end and must not be scored.
        rounds: The whole rounds played.
    """

    rules: DPBenchRules
    seed: int
    ended: str
    rounds: tuple[Round, ...]

    @property
    def complete(self) -> bool:
        """Whether the game ended by its rules; only then is it scored."""
        return not self.ended.startswith(_CUT)

    @property
    def timesteps(self) -> int:
        """Timesteps played: rounds, or single actions in sequential order."""
        return len(self.rounds) * (1 if self.rules.simultaneous else self.rules.n)

    def to_dict(self) -> dict[str, object]:
        """The record as plain JSON values; `from_dict` reads it back."""
        plain: dict[str, object] = {
            "version": VERSION,
            "rules": self.rules.options(),
            "seed": str(self.seed),
            "ended": self.ended,
            "rounds": [one.codes for one in self.rounds],
            "hashes": [one.hash for one in self.rounds],
        }
        if self.rules.communication:
            plain["said"] = [[list(each) for each in one.said] for one in self.rounds]
        return plain

    def to_json(self) -> str:
        """The record as one line of JSON, the same bytes for the same game."""
        return json.dumps(self.to_dict(), separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def from_dict(data: object) -> "Record":
        """Reads the output of `to_dict` and checks its form; `game.replay` checks its content.

        Raises:
            ValueError: The data is not a record, or has a newer version.
        """
        if not isinstance(data, Mapping):
            raise ValueError(f"This is no record of a DPBench game: {str(data)[:80]!r}.")
        version, seed, ended = data.get("version"), data.get("seed"), data.get("ended")
        if version != VERSION:
            raise ValueError(f"This DPBench record has version {version!r}; this package reads version {VERSION}.")
        rules = _rules(data.get("rules"))
        if not isinstance(seed, str) or not _SEED.fullmatch(seed):
            raise ValueError(f"This record's seed is {seed!r}; a whole number in quotes was expected.")
        check_seed(int(seed))
        if not isinstance(ended, str) or not (ended in (DEADLOCK, HORIZON) or ended.startswith(_CUT)):
            raise ValueError(f"This record ended with {ended!r}; expected: {DEADLOCK}, {HORIZON} or '{_CUT}<reason>'.")
        codes, hashes = data.get("rounds"), data.get("hashes")
        said = data.get("said", [[]] * len(codes) if isinstance(codes, list) else None)
        if not (isinstance(codes, list) and isinstance(hashes, list) and isinstance(said, list)):
            raise ValueError("This record's rounds, hashes or said are no lists.")
        if not len(codes) == len(hashes) == len(said):
            raise ValueError(f"This record has {len(codes)} rounds, {len(hashes)} hashes and {len(said)} exchanges.")
        rounds = tuple(
            _round(number, rules, *one) for number, one in enumerate(zip(codes, said, hashes, strict=True), 1)
        )
        return Record(rules, int(seed), ended, rounds)


def _rules(data: object) -> DPBenchRules:
    if not isinstance(data, Mapping):
        raise ValueError(f"This record's rules are {data!r}; an object was expected.")
    unknown = sorted(set(map(str, data)) - {field.name for field in fields(DPBenchRules)})
    if unknown or "n" not in data:
        raise ValueError(f"This record {f'has unknown rules: {unknown}' if unknown else 'lacks n in its rules'}.")
    return DPBenchRules(**data)


def _round(number: int, rules: DPBenchRules, codes: object, said: object, hashed: object) -> Round:
    """One round, after a check of its form."""
    if not isinstance(codes, str) or len(codes) != rules.n or not all(code in CODES for code in codes):
        raise ValueError(f"Round {number} reads {codes!r}; one known code for each of {rules.n} seats was expected.")
    if not isinstance(hashed, str):
        raise ValueError(f"Round {number} has the hash {hashed!r}; a text was expected.")
    exchanges = rules.discussions + 1 if rules.communication else 0
    if not isinstance(said, list) or len(said) != exchanges:
        raise ValueError(f"Round {number} holds no list of {exchanges} exchanges of messages.")
    for each in said:
        if not isinstance(each, list) or len(each) != rules.n or not all(map(_is_message, each)):
            raise ValueError(f"Round {number} holds an exchange that is not one message of each of {rules.n} seats.")
    return Round(codes, tuple(tuple(each) for each in said), hashed)


def _is_message(value: object) -> bool:
    return value is None or (isinstance(value, str) and len(value) <= MESSAGE_LENGTH)
