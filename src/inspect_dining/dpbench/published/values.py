"""Values from dpbench's files, each checked before use. All functions raise a ValueError with a clause."""

import json
import re
from collections.abc import Mapping

from inspect_dining.border import plain


def parse_object(line: str) -> Mapping[str, object]:
    """One JSON object."""
    try:
        entry = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError("it is not JSON") from error
    if not isinstance(entry, dict):
        raise ValueError("it is no JSON object")
    return entry


def take_object(entry: Mapping[str, object], key: str) -> Mapping[str, object]:
    """The JSON object under a key."""
    value = entry.get(key)
    if not isinstance(value, Mapping):
        raise ValueError(f"its {key} is no object")
    return value


def take_list(entry: Mapping[str, object], key: str) -> list[object]:
    """The list under a key."""
    value = entry.get(key)
    if not isinstance(value, list):
        raise ValueError(f"its {key} is no list")
    return value


def take_count(entry: Mapping[str, object], key: str) -> int:
    """The whole number under a key, from 0 to a million."""
    try:
        return parse_count(entry.get(key))
    except ValueError as error:
        raise ValueError(f"its {key} is no whole number") from error


def parse_count(value: object) -> int:
    """A whole number from 0 to a million, possibly written as text."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,7}", value.strip()):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 1_000_000:
        raise ValueError(f"{plain(value, 40)} is no count")
    return value


def parse_bool(value: str) -> bool:
    """A truth value in Python's notation."""
    if value not in ("True", "False"):
        raise ValueError(f"{plain(value, 40)} is neither True nor False")
    return value == "True"
