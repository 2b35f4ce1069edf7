"""The record: the account of one episode, from which scores, replay and training samples derive.

It holds only inputs (rules, seed, how the game ended, a code for every seat and round, and with talk the messages) and
a state hash per round that proves a replay correct. Times, usage, ids and other text stay in Inspect's log.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from inspect_dining.table.drawing import game_svg
from inspect_dining.table.faulty_seats import FaultySeats
from inspect_dining.table.moves import READINGS, Reading
from inspect_dining.table.round import Round
from inspect_dining.table.rules import NAMES, Rules, check_seed, is_whole, tie_winner
from inspect_dining.table.table import Table, end_round, move
from inspect_dining.table.talk import Messages, as_message

VERSION = 2
"""The newest version of the record's format and of the rules it is replayed by; see `Rules.version`."""
RECORD = "inspect_dining:record"
"""The key under which a sample's store holds its record in Inspect's log."""
DEADLOCK = "deadlock"
HORIZON = "horizon"
_CUT = "cut: "
_SEED = re.compile("0|[1-9][0-9]{0,19}")


def cut(reason: str) -> str:
    """The mark of a game that did not end."""
    return _CUT + reason


@dataclass(frozen=True, slots=True)
class Record:
    """One episode.

    Attributes:
        rules: The rules of the game.
        seed: The episode's seed, 0 to 2**64 - 1.
        ended: `deadlock`, `horizon`, or `cut: <reason>` for a game that did not end and must not be scored.
        rounds: For each whole round played, the codes of its turns, one character per seat (see `moves.READINGS`).
        hashes: For each whole round, the hash of the table after it.
        messages: With talk, for each whole round, its exchanges, each with one message per seat ("" for silence).
        donor: Under `talk_control="shuffled"`, the messages of the other game that were heard instead.
    """

    rules: Rules
    seed: int
    ended: str
    rounds: tuple[str, ...]
    hashes: tuple[str, ...]
    messages: Messages = ()
    donor: Messages = ()

    @property
    def complete(self) -> bool:
        """Whether the game ended by its rules; only then is it scored."""
        return not self.ended.startswith(_CUT)

    @property
    def deadlocked(self) -> bool:
        """Whether the game ended in deadlock."""
        return self.ended == DEADLOCK

    def to_dict(self) -> dict[str, object]:
        """The record as plain JSON values; `from_dict` reads it back. The seed is a string, since it exceeds 2**53."""
        plain: dict[str, object] = {
            "version": self.rules.version,
            "rules": self.rules.options(),
            "seed": str(self.seed),
            "ended": self.ended,
            "rounds": list(self.rounds),
            "hashes": list(self.hashes),
        }
        if self.rules.talk:
            plain["messages"] = _plain(self.messages)
        if self.rules.talk_control == "shuffled":
            plain["donor"] = _plain(self.donor)
        return plain

    def to_json(self) -> str:
        """The record as one line of JSON, the same bytes for the same game."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    def to_svg(self, title: str = "") -> str:
        """The whole game as a vector picture, in SVG text (see `drawing.game_svg`)."""
        return game_svg(replay(self), self.rules.n, ending(self), title)

    def _repr_html_(self) -> str:
        """The game as shown in a notebook: its picture, with the meals and how it ended."""
        return f'<div style="max-width: 100%; overflow-x: auto">{self.to_svg()}</div>'

    @staticmethod
    def from_json(text: str) -> "Record":
        """Reads the output of `to_json`.

        Raises:
            ValueError: The text is not a record, or has a newer version.
        """
        try:
            return Record.from_dict(json.loads(text))
        except json.JSONDecodeError as error:
            raise ValueError(f"This is no record of a dinner: it is not JSON ({error}).") from None

    @staticmethod
    def from_dict(data: object) -> "Record":
        """Reads the output of `to_dict` and checks its form; `replay` checks its content.

        Raises:
            ValueError: The data is not a record, or has a newer version.
        """
        if not isinstance(data, Mapping):
            raise ValueError(f"This is no record of a dinner: an object was expected, not {type(data).__name__}.")
        version = data.get("version")
        if not is_whole(version) or version < 1:
            raise ValueError(f"This is no record of a dinner: its version is {version!r}.")
        if version > VERSION:
            raise ValueError(
                f"This record has version {version}, and this inspect_dining reads versions up to {VERSION}; "
                "install a newer inspect_dining to read it."
            )
        rules = _rules(data.get("rules"))
        seed, ended = data.get("seed"), data.get("ended")
        if not isinstance(seed, str) or not _SEED.fullmatch(seed):
            raise ValueError(f"This record's seed is {seed!r}; a whole number in quotes was expected.")
        check_seed(int(seed))
        if not isinstance(ended, str) or not (ended in (DEADLOCK, HORIZON) or ended.startswith(_CUT)):
            raise ValueError(f"This record ended with {ended!r}; expected: {DEADLOCK}, {HORIZON} or '{_CUT}<reason>'.")
        rounds, hashes = _texts(data, "rounds"), _texts(data, "hashes")
        if len(rounds) != len(hashes):
            raise ValueError(
                f"This record has {len(rounds)} rounds and {len(hashes)} hashes; one for each was expected."
            )
        for number, codes in enumerate(rounds, 1):
            if len(codes) != rules.n or not all(code in READINGS for code in codes):
                raise ValueError(
                    f"Round {number} of this record reads {codes!r}; "
                    f"one known code for each of {rules.n} seats was expected."
                )
        messages, donor = _said(data, "messages", rules), _said(data, "donor", rules)
        if len(messages) != (len(rounds) if rules.talk else 0):
            raise ValueError(
                f"This record has {len(rounds)} rounds, talk {rules.talk} and messages of {len(messages)} rounds."
            )
        unheard = rules.talk_control == "shuffled" and not rounds  # the game was cut during the other one
        if bool(donor) != (rules.talk_control == "shuffled") and not unheard:
            raise ValueError(
                f"This record has talk_control {rules.talk_control} and {len(donor)} rounds of another game's messages."
            )
        return Record(rules, int(seed), ended, rounds, hashes, messages, donor)


def ending(record: Record) -> str:
    """Why a game ended, in a sentence."""
    played, rules = len(record.rounds), record.rules
    if record.deadlocked:
        return f"Deadlock in round {played} of {rules.rounds}: every philosopher held exactly one fork" + (
            "." if rules.patience == 1 else f" for {rules.patience} rounds in a row."
        )
    if record.complete:
        return f"No deadlock in all {rules.rounds} rounds."
    reason = record.ended.removeprefix(_CUT)
    return f"Cut after {played} of {rules.rounds} rounds ({reason}); a cut game is not scored."


@lru_cache(maxsize=256)
def replay(record: Record) -> tuple[Round, ...]:
    """Plays a record again.

    Args:
        record: The record of a finished or cut game.

    Returns:
        Its rounds, with every state, turn and outcome.

    Raises:
        ValueError: The record does not replay to the states that it claims.
    """
    rounds = tuple(_rounds(record))
    last = rounds[-1].after if rounds else Table.empty(record.rules.n)
    deadlock, horizon = last.locked >= record.rules.patience, last.round > record.rules.rounds
    truth = DEADLOCK if deadlock else HORIZON if horizon else None
    if (record.ended if record.complete else None) != truth:
        raise ValueError(
            f"This record says that it ended by {record.ended!r}, but its replay ends by {truth or 'nothing'}."
        )
    return rounds


def _rounds(record: Record) -> Iterator[Round]:
    rules, table = record.rules, Table.empty(record.rules.n)
    seats = range(rules.n)
    faults = FaultySeats(rules, record.seed)

    def winner(number: int, fork: int) -> int:
        return tie_winner(rules, record.seed, number, fork)

    said = record.messages or ((),) * len(record.rounds)
    for codes, claimed, exchanges in zip(record.rounds, record.hashes, said, strict=True):
        if table.locked >= rules.patience:
            raise ValueError(f"This record goes on after the deadlock of round {table.round - 1}.")
        if table.round > rules.rounds:
            raise ValueError(f"This record has {len(record.rounds)} rounds under a horizon of {rules.rounds}.")
        before, readings = table, [READINGS[code] for code in codes]
        faults.begin_round(table)
        forced_out = [seat for seat in faults.begun if not faults.asked(seat)]
        for seat in forced_out:
            true = faults.says(seat, table.round)
            if any(exchange[seat] != true for exchange in exchanges):
                wrong = f"whose fault has it say {true!r}" if true else "whose fault keeps it silent"
                raise ValueError(f"This record has a seat speak in round {table.round} {wrong}.")
        if rules.order == "simultaneous":
            _check(faults, table, seats, readings)
            seen = (before,) * rules.n
            table = move(table, seats, readings, winner)
        else:
            sights = []
            for seat in seats:
                sights.append(table)
                _check(faults, table, (seat,), (readings[seat],))
                table = move(table, (seat,), (readings[seat],), winner)
            seen = tuple(sights)
        turns = tuple(turn for turn in table.last if turn is not None)
        table = end_round(table, rules)
        if table.hash != claimed:
            raise ValueError(
                f"This record does not replay: after round {before.round} the table's hash is {table.hash}, "
                f"and the record says {claimed}."
            )
        if not faults.begun:
            yield Round(before.round, before, turns, table, seen, exchanges=exchanges)
            continue
        faulty = tuple(sorted(faults.begun))
        forced = tuple(seat for seat in faulty if not faults.asked(seat))
        seen = tuple(faults.seen(seat, sight) for seat, sight in enumerate(seen))
        yield Round(before.round, before, turns, table, seen, faulty, forced, exchanges)


def _check(faults: FaultySeats, table: Table, seats: Sequence[int], readings: Sequence[Reading]) -> None:
    """Refuses turns that differ from what the seats' faults force."""
    for seat, claimed in zip(seats, readings, strict=True):
        if seat in faults.begun and not faults.asked(seat):
            true = faults.turn(seat, table)
            if claimed is not true:
                raise ValueError(
                    f"This record does not replay: in round {table.round} the fault {faults.fault(seat)} has seat "
                    f"{seat} do {true.action or 'nothing'}, and the record says {claimed.action or claimed.kind}."
                )


def _rules(data: object) -> Rules:
    if not isinstance(data, Mapping):
        raise ValueError(f"This record's rules are {data!r}; an object was expected.")
    unknown = sorted(set(map(str, data)) - {"n", "rounds", *NAMES})
    if unknown or "n" not in data or "rounds" not in data:
        wrong = f"has unknown rules: {', '.join(unknown)}" if unknown else "lacks n or rounds in its rules"
        raise ValueError(f"This record {wrong}.")
    return Rules(**data)


def _texts(data: Mapping[object, object], key: str) -> tuple[str, ...]:
    value = data.get(key)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"This record's {key} are {value!r}; a list of texts was expected.")
    return tuple(value)


def _plain(messages: Messages) -> list[list[list[str]]]:
    return [[list(exchange) for exchange in exchanges] for exchanges in messages]


def _said(data: Mapping[object, object], key: str, rules: Rules) -> Messages:
    """The messages under a key: for each round, `talk` exchanges of one message per seat."""
    rounds: object = data.get(key, [])
    if not isinstance(rounds, list):
        raise ValueError(f"This record's {key} are {rounds!r}; a list of rounds was expected.")
    for number, exchanges in enumerate(rounds, 1):
        whole = isinstance(exchanges, list) and len(exchanges) == rules.talk
        if not whole or not all(_is_exchange(exchange, rules.n) for exchange in exchanges):
            raise ValueError(
                f"This record's {key} of round {number} read {str(exchanges)[:200]!r}; {rules.talk} exchanges of "
                f"{rules.n} messages were expected."
            )
    return tuple(tuple(tuple(exchange) for exchange in exchanges) for exchanges in rounds)


def _is_exchange(exchange: object, n: int) -> bool:
    if not isinstance(exchange, list) or len(exchange) != n:
        return False
    return all(isinstance(text, str) and text == as_message(text) for text in exchange)
