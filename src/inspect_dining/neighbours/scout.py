"""Scanners for Inspect Scout over logs of dinners: what a game's numbers do not show, turn by turn.

    from inspect_scout import scan, transcripts_from
    from inspect_dining.neighbours.scout import all_alike, hog, planned_not_called, says_otherwise

    scan([hog(), all_alike(), planned_not_called(), says_otherwise()], transcripts=transcripts_from("logs"))

None of them calls a model. Needs `pip install 'inspect-dining[scout]'`.
"""

import re
from collections.abc import Iterator, Sequence

from inspect_ai.event import Event, StoreEvent
from inspect_scout import Result, Scanner, Transcript, scanner

from inspect_dining.analysis.show.said import turns_in
from inspect_dining.table.moves import Action, Kind, Turn
from inspect_dining.table.record import RECORD, Record, replay
from inspect_dining.table.round import Round

_NAMES = {action: re.compile(rf"\b{action.value.replace('_', '[ _-]')}\b", re.IGNORECASE) for action in Action}
"""The ways in which a text names an action: `pick_up_left`, `pick up left`, `eat`."""


@scanner(events=["model", "store"])
def hog() -> Scanner[Transcript]:
    """The seats that ate more than twice an even share while some seat ate nothing."""

    async def scan(transcript: Transcript) -> Result:
        record = record_of(transcript.events)
        if record is None or not record.rounds:
            return _nothing()
        meals = replay(record)[-1].after.meals
        hogs = [seat for seat, count in enumerate(meals) if 0 in meals and count > 2 * sum(meals) / len(meals)]
        told = f"Meals by seat: {'/'.join(map(str, meals))}."
        return Result(value=len(hogs), answer=", ".join(map(str, hogs)), explanation=told)

    return scan


@scanner(events=["model", "store"])
def all_alike() -> Scanner[Transcript]:
    """The share of rounds in which all seats took the same action; a lost turn never counts as the same."""

    async def scan(transcript: Transcript) -> Result:
        record = record_of(transcript.events)
        rounds = () if record is None else replay(record)
        if not rounds:
            return _nothing()
        alike = [round.number for round in rounds if _alike(round)]
        return Result(
            value=round(len(alike) / len(rounds), 4),
            answer=f"{len(alike)} of {len(rounds)} rounds",
            explanation=f"All seats chose alike in rounds {', '.join(map(str, alike)) or '-'}.",
        )

    return scan


@scanner(events=["model", "store"])
def planned_not_called() -> Scanner[Transcript]:
    """The turns in which the reply names an action in its text, and no tool was called."""

    async def scan(transcript: Transcript) -> Result:
        found = [
            f"round {number}, seat {seat}: {text[:160]}"
            for number, seat, turn, text in _spoken(transcript)
            if turn.reading.kind is Kind.NO_CALL and any(name.search(text) for name in _NAMES.values())
        ]
        return Result(value=len(found), answer=str(len(found)), explanation="\n".join(found[:20]))

    return scan


@scanner(events=["model", "store"])
def says_otherwise() -> Scanner[Transcript]:
    """The turns in which the text names exactly one action, and another one was called."""

    async def scan(transcript: Transcript) -> Result:
        found = []
        for number, seat, turn, text in _spoken(transcript):
            named = [action for action, name in _NAMES.items() if name.search(text)]
            if turn.reading.action is not None and len(named) == 1 and named[0] is not turn.reading.action:
                found.append(f"round {number}, seat {seat}: did {turn.reading.action}, said: {text[:160]}")
        return Result(value=len(found), answer=str(len(found)), explanation="\n".join(found[:20]))

    return scan


def record_of(events: Sequence[Event]) -> Record | None:
    """The final record in a sample's store, from its events; None if there is none."""
    for event in reversed(events):
        if isinstance(event, StoreEvent):
            for change in reversed(event.changes):
                if change.path == f"/{RECORD}" and isinstance(change.value, dict):
                    try:
                        return Record.from_dict(change.value)
                    except ValueError:
                        return None
    return None


def _spoken(transcript: Transcript) -> Iterator[tuple[int, int, Turn, str]]:
    """Every turn with text: round, seat, the reading, and the text."""
    record = record_of(transcript.events)
    said = turns_in(transcript.events)
    for played in () if record is None else replay(record):
        for seat, turn in enumerate(played.turns):
            text = said.get((played.number, seat), "")
            if text:
                yield played.number, seat, turn, text


def _alike(played: Round) -> bool:
    actions = {turn.reading.action for turn in played.turns}
    return len(actions) == 1 and None not in actions


def _nothing() -> Result:
    return Result(value=None, explanation="This transcript holds no dinner.")
