"""The record of a sample, wherever Inspect stored it, checked before it is used."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from inspect_dining.border import check_size, plain
from inspect_dining.table.record import RECORD, Record

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

_POINTER = "/" + RECORD.replace("~", "~0").replace("/", "~1")
_ATTACHED = "attachment://"


def stored(sample: "EvalSample") -> object:
    """The plain values of a sample's record, or None if there is none.

    They are in its store. After a run was killed, Inspect rebuilds the games that had ended but were not yet written,
    with an empty store; the last event that changed the store still holds the whole record.
    """
    found: object = sample.store.get(RECORD)
    if found is not None:
        return found
    for event in reversed(sample.events):
        if event.event == "store":
            for change in reversed(event.changes):
                if change.path == _POINTER and change.op in ("add", "replace"):
                    return _whole(change.value, sample.attachments)
    return None


def whole_text(text: str, attachments: Mapping[str, str]) -> str:
    """The original text, which Inspect may have stored separately."""
    return attachments.get(text.removeprefix(_ATTACHED), text) if text.startswith(_ATTACHED) else text


def _whole(value: object, attachments: Mapping[str, str]) -> object:
    """A value of an event with the texts that Inspect stores separately restored."""
    if isinstance(value, str):
        return whole_text(value, attachments)
    if isinstance(value, list):
        return [_whole(one, attachments) for one in value]
    if isinstance(value, dict):
        return {key: _whole(one, attachments) for key, one in value.items()}
    return value


def checked(data: object) -> Record:
    """A record of bounded size with printable texts only; `table.record.replay` checks its content.

    Raises:
        ValueError: The data is not a record, is too large, or has a newer version.
    """
    if isinstance(data, Mapping):
        rules = data.get("rules")
        if isinstance(rules, Mapping):
            check_size(rules.get("n"), rules.get("rounds"))
        for key in ("rounds", "hashes"):
            values = data.get(key)
            if isinstance(values, list):
                check_size(None, len(values))
    try:
        record = Record.from_dict(data)
    except (TypeError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"This is no record of a dinner: {plain(error)}.") from None
    return replace(record, ended=plain(record.ended))
