"""The reading of a reply: how a model's answer is interpreted, without guessing.

It is pure and total: every reply has exactly one reading, and no reply, however broken, raises. The rules, in order:

1. A refusal (`content_filter`) is `refused`, whatever else it contains.
2. Native calls decide, if there are any. Only the first one is read. Unless it names one of the six tools, without
   arguments, the reading is `malformed` or `unknown`, and a later call never replaces it. If it does, the reading is
   `action`, or `several` if more calls follow. A complete call counts even if the token limit cut the reply; a
   single call that the cut made unreadable is `truncated`.
3. Without a call, a reply that the limit cut is `truncated`; one whose call the provider could not read is `malformed`;
   one that says nothing outside reasoning is `empty`.
4. Text is `no_call`, unless `rescue` is on and it is one unambiguous call (see `rescue.py`): then it is `rescued`.

Reasoning is never an action and never counts as text. Some provider behaviour cannot be undone here. `hf/` returns a
call within `<think>` as a native call. Inspect keeps separated reasoning, but not its position, so reasoning may have
followed a call in the text. For a tool without parameters, Inspect drops arguments that are not a JSON object (a bare
`left`, `[1]`).
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspect_dining.philosophers.calls import Call, bare, canonical, plain_call
from inspect_dining.philosophers.reasoning import spoken, still_thinking
from inspect_dining.philosophers.rescue import rescued
from inspect_dining.philosophers.stops import FINISH, Stop, stop_of
from inspect_dining.table.moves import ACTS, Action, Kind, Reading

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

__all__ = ["Call", "Reply", "Stop", "canonical", "read", "reply_from_text", "reply_of"]


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply to one observation, as its provider returned it.

    Attributes:
        calls: Its native calls, in order.
        text: Its text; it excludes reasoning that the provider separated.
        stop: Why the model stopped.
    """

    calls: tuple[Call, ...]
    text: str
    stop: Stop


_SEVERAL = {action: Reading(Kind.SEVERAL, action) for action in Action}
_RESCUED = {action: Reading(Kind.RESCUED, action) for action in Action}


def read(reply: Reply, rescue: bool = False) -> Reading:
    """Reads a reply.

    Args:
        reply: The reply.
        rescue: Whether one unambiguous call in the text counts if there is no native call.

    Returns:
        Its reading. An `overflow` that did not cut the game is read like a reply that the token limit cut.
    """
    if reply.stop is Stop.REFUSED:
        return Reading(Kind.REFUSED)
    cut = reply.stop in {Stop.LENGTH, Stop.OVERFLOW}
    if reply.calls:
        first, only = reply.calls[0], len(reply.calls) == 1
        understood = _understood(first)
        if isinstance(understood, Action):
            return ACTS[understood] if only else _SEVERAL[understood]
        unfinished = cut and only and first.error is not None and understood is Kind.MALFORMED
        return Reading(Kind.TRUNCATED if unfinished else understood)
    if cut:
        return Reading(Kind.TRUNCATED)
    if reply.stop is Stop.MALFORMED:
        return Reading(Kind.MALFORMED)
    text = spoken(reply.text)
    if not text:
        return Reading(Kind.EMPTY)
    action = rescued(text) if rescue else None
    return Reading(Kind.NO_CALL) if action is None or still_thinking(reply.text) else _RESCUED[action]


def _understood(call: Call) -> Action | Kind:
    """The action of a call, or its kind of reading if it has none."""
    if call.error is not None:
        found = _unparsed(call)
        if found is None:
            return Kind.MALFORMED
        call = found
    action = canonical(call.name)
    if action is None:
        return Kind.UNKNOWN if call.name.strip() else Kind.MALFORMED
    return action if bare(call.arguments) else Kind.MALFORMED


_UNPARSED = "Error parsing the following tool call arguments:\n\n"
_DETAILS = "\n\nError details: "


def _unparsed(call: Call) -> Call | None:
    """The call inside one of Inspect's parse errors, since `hf/` treats empty arguments as missing."""
    if call.error is None or call.name != "unknown" or not bare(call.arguments):
        return None
    raw, marker, _ = call.error.removeprefix(_UNPARSED).rpartition(_DETAILS)
    return plain_call(raw) if marker and call.error.startswith(_UNPARSED) else None


_NO_CONTENT = "(no content)"
_GEMINI_FAILED = "I seem to have had trouble calling a function and replied with "


def reply_of(output: "ModelOutput") -> Reply:
    """The reply in the output of Inspect's model interface.

    Text that providers add in the model's name is undone: Inspect's placeholder for an empty reply is not text; its
    apology for a call that Gemini itself declared malformed is such a call; and a refusal that OpenAI reports in a
    separate field, with an ordinary finish reason, is a refusal.

    Args:
        output: A model's output; only its first choice counts, as everywhere in Inspect.

    Returns:
        The reply.

    Raises:
        ValueError: The output has no choices, so there is no reply to read.
    """
    if not output.choices:
        raise ValueError("The model's output has no choices, so there is no reply to read.")
    choice = output.choices[0]
    calls = tuple(Call(c.function, c.arguments, c.parse_error) for c in choice.message.tool_calls or ())
    text = choice.message.text
    word = (output.metadata or {}).get(FINISH)
    stop = stop_of(choice.stop_reason, word if isinstance(word, str) else None)
    if stop is Stop.FINISHED and not calls and choice.stop_details and choice.stop_details.type == "refusal":
        stop = Stop.REFUSED
    if stop is Stop.UNKNOWN and not calls and _GEMINI_FAILED in text:
        calls = (Call("", error=text),)
    return Reply(calls, "" if text.strip() == _NO_CONTENT else text, stop)


_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_FUNCTION = re.compile(r"\s*<function=(?P<name>[^<>\n]{1,100})>(?P<inside>[^<>]*)</function>\s*")


def reply_from_text(text: str, stop: Stop) -> Reply:
    r"""The reply in a completion of Qwen's chat template, with its calls made native.

    The rules, compared with vLLM's `hermes` parser and Inspect's `hf/`:

    * Every `<tool_call>...</tool_call>` outside reasoning is one call, in order; the rest is text. `hermes`
      drops the text after the first call; `hf/` does not look for reasoning.
    * Between the tags is one JSON object with `name` and `arguments` (or `parameters`, as in `hf/`), or the
      `<function=name></function>` of Qwen3-Coder and Qwen3.5.
    * Without `arguments` the call has none: `hermes` and `hf/` reject it (by design, both forms mean the same here).
    * Broken JSON, a repeated key or an unknown key gives a call with an error, `malformed` if it is the first, as in
      `hf/`; `hermes` then treats the whole reply, good calls included, as text, and ignores unknown keys.
    * Arguments that are not an object are also an error; `hermes` passes them to Inspect, which drops them.
    * An unclosed tag ends with the text, as in `hermes`: complete JSON in it is a call (also in a truncated
      reply), anything else a call with an error; `hf/` treats it as text. A tag within a tag breaks the outer one.
    * A call within `<think>` is reasoning and does not count, even if `<think>` was never closed; `hermes` with
      its reasoning parser may let it through.

    Args:
        text: The completion, decoded with its special tokens. If the prompt itself opened `<think>`, prepend it:
            a reply that was cut before `</think>` otherwise cannot be distinguished from an answer.
        stop: Why the model stopped.

    Returns:
        The reply.
    """
    said = spoken(text)
    calls, around, at = [], [], 0
    while (start := said.find(_OPEN, at)) >= 0:
        around.append(said[at:start])
        end = said.find(_CLOSE, start)
        body = said[start + len(_OPEN) : end if end >= 0 else len(said)]
        calls.append(_written(body))
        at = end + len(_CLOSE) if end >= 0 else len(said)
    around.append(said[at:])
    return Reply(tuple(calls), "".join(around).strip(), stop)


def _written(body: str) -> Call:
    """The call between two tags: with an object of arguments or an error, as any provider could return it."""
    function = _FUNCTION.fullmatch(body)
    call = Call(function["name"], function["inside"]) if function else plain_call(body)
    if call is None:
        return Call("", {}, f"This is not one call with a name and arguments: {body.strip()}")
    if bare(call.arguments):
        return Call(call.name, {})
    if isinstance(call.arguments, dict):
        return call
    return Call(call.name, {}, f"The arguments are not an object: {body.strip()}")
