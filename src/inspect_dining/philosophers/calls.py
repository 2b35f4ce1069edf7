"""Tool calls from any source: the tool they name, and whether anything in them could contradict that name.

None of the six tools takes an argument, so a call is read only if it names a tool and carries nothing else. An
argument, a repeated key, or an unknown key could contradict the name.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from inspect_dining.table.moves import Action

_FOLD = str.maketrans("", "", "-_. \t\r\n")
_ACTIONS = {action.value.translate(_FOLD): action for action in Action}
_ARGUMENTS = frozenset({"arguments", "parameters", "args", "input"})
_WRAPPERS = ("function", "function_call", "functionCall", "tool_calls")
_NESTING = 4
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True)
class Call:
    """One native call of a reply.

    Attributes:
        name: The tool that it names, as the model wrote it.
        arguments: Its arguments, as the provider parsed them.
        error: Why the provider could not parse it, with the raw text, or None if it could.
    """

    name: str
    arguments: object = None
    error: str | None = None


def canonical(name: str) -> Action | None:
    """The action that a tool name means.

    Args:
        name: A tool name; case, hyphens, underscores, dots and ASCII blanks do not matter.

    Returns:
        The action, or None if there is no such tool. Letters outside ASCII never match: a lookalike is another name.
    """
    return _ACTIONS.get(name.translate(_FOLD).lower()) if name.isascii() else None


def bare(arguments: object) -> bool:
    """Whether a call's arguments are empty: none, `{}`, `""` or `null`, also as a string with surrounding spaces."""
    if isinstance(arguments, str):
        text = arguments.strip()
        return text in {"", "null", '""'} or (text[0] + text[-1] == "{}" and not text[1:-1].strip())
    return arguments is None or (isinstance(arguments, dict) and not arguments)


def strict_json(text: str) -> object:
    """Parses JSON in which no object repeats a key, since the two values could contradict each other.

    Raises:
        ValueError: It is not JSON, repeats a key, or is nested too deeply.
    """
    try:
        value: object = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def plain_call(text: str) -> Call | None:
    """The call in a text that is exactly one JSON object with a name, optional arguments, and nothing else."""
    try:
        return _named(strict_json(text))
    except ValueError:
        return None


def wrapped_call(text: str) -> Call | None:
    """The one call in a JSON text, in any of the wrappers that model families use.

    Accepted are the plain object, the same with `type` and `id`, a list of one, and the formats of OpenAI
    (`function_call`, `tool_calls`), Anthropic (`tool_use`) and Gemini (`functionCall`). The arguments must be
    present, even if empty: in text, a name alone is only a mention.
    """
    try:
        value = strict_json(text)
    except ValueError:
        return None
    for _ in range(_NESTING):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif not isinstance(value, dict):
            return None
        else:
            inside = {key: held for key, held in value.items() if not _is_envelope(key, held)}
            if len(inside) == 2:
                return _named(inside)
            key = next(iter(inside), None)
            if len(inside) != 1 or key not in _WRAPPERS:
                return None
            value = inside[key]
    return None


def _named(value: object) -> Call | None:
    if not isinstance(value, dict) or not isinstance(name := value.get("name"), str) or not name.strip():
        return None
    others = value.keys() - {"name"}
    if len(others) > 1 or not others <= _ARGUMENTS:
        return None
    return Call(name, next((value[key] for key in others), None))


def _is_envelope(key: str, value: object) -> bool:
    """Whether a key of a JSON call only marks it as a call and cannot affect its meaning."""
    said: Mapping[str, bool] = {
        "type": value in ("function", "function_call", "tool_call", "tool_use"),
        "role": value == "assistant",
        "content": value is None or value == "",
        "id": _is_id(value),
        "call_id": _is_id(value),
        "index": isinstance(value, int),
    }
    return said.get(key, False)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and bool(_ID.fullmatch(value)) and canonical(value) is None
