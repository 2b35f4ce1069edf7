"""Bounds on a model's output, so that it can be logged and sent back.

A log is JSON, and a provider checks the next request. A call nested 250 deep, a number with a thousand digits or half a
surrogate pair would lose the whole sample, and a strict server rejects a tool name with a space in it. A model's output
is therefore bounded once, before it is stored anywhere. No distinction that the reading makes is lost: a call that is
cut down here could not have been read anyway.
"""

import re
from dataclasses import replace
from itertools import count
from math import isfinite

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    ModelCall,
    ModelOutput,
)
from inspect_ai.tool import ToolCall

MOST_TEXT = 400_000
"""The maximum characters in one piece of text."""
MOST_CALLS = 16
"""The maximum calls in one reply; the first decides, the others are only counted."""
MOST_NAME = 128
"""The maximum characters in a tool name, and in a call's id."""
MOST_ARGUMENTS = 10_000
"""The maximum characters in a call's arguments as JSON, and in the reason why they could not be read."""
MOST_NESTING = 16
"""The maximum nesting of arguments; 64 for a raw reply."""
_RAW_NESTING = 64
_SURROGATES = re.compile("[\ud800-\udfff]")
_LARGEST = 2**63
NOTHING_SAID = "(nothing)"
"""Replaces a reply without text and calls in a kept conversation, since strict providers reject an empty one."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def bounded(output: ModelOutput) -> ModelOutput:
    """A model's output with texts, calls and arguments of bounded size that every log can hold.

    Args:
        output: The output; it is not changed.

    Returns:
        The output itself if it is within bounds.
    """
    choices = [_choice(choice) for choice in output.choices]
    error = output.error and text(output.error, MOST_ARGUMENTS)
    if all(new is old for new, old in zip(choices, output.choices, strict=True)) and error == output.error:
        return output
    said = choices[0].message.text if choices else text(output.completion)
    return output.model_copy(update={"choices": choices, "completion": said, "error": error})


def text(given: str, most: int = MOST_TEXT) -> str:
    """A text of bounded length without half surrogate pairs, which no UTF-8 file can hold."""
    whole = given if len(given) <= most else f"{given[:most]}... ({len(given):,} letters)"
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", whole)


def bound_raw(call: ModelCall) -> None:
    """Removes what no log can hold from a provider's raw request and reply."""
    if call.response is not None and not _is_plain(call.response, _RAW_NESTING):
        call.response = {"left_out": "The reply is nested too deeply, or is not valid JSON."}


def replayable(message: ChatMessageAssistant, taken: set[str]) -> ChatMessageAssistant:
    """Makes a reply valid for a kept conversation, whatever the model said.

    Args:
        message: The reply.
        taken: The ids of earlier calls; new ones are added.

    Returns:
        The reply itself if a strict provider accepts it back: it is not empty, and every call has a valid name, a valid
            and unique id, and arguments that are an object.
    """
    calls = []
    for call in message.tool_calls or []:
        name = call.function if _NAME.fullmatch(call.function) else _allowed(call.function)
        sound = name == call.function and call.parse_error is None and _is_plain(call.arguments, MOST_NESTING)
        if sound and _ID.fullmatch(call.id) and call.id not in taken:
            calls.append(call)
        else:
            # a new id: some provider classes look up the original call by id and would send that
            new = next(id for number in count(len(taken)) if (id := f"call{number:05d}") not in taken)
            calls.append(ToolCall(id=new, function=name, arguments=call.arguments if sound else {}))
        taken.add(calls[-1].id)
    said = message.text.strip() or calls
    if said and calls == (message.tool_calls or []):
        return message
    content: str | list[Content] = message.content
    if not said:
        reasoning = [] if isinstance(content, str) else [one for one in content if isinstance(one, ContentReasoning)]
        content = [*reasoning, ContentText(text=NOTHING_SAID)] if reasoning else NOTHING_SAID
    return message.model_copy(update={"content": content, "tool_calls": calls or None})


def _allowed(name: str) -> str:
    """The nearest tool name that vendors allow."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:64] or "unknown"


def _choice(choice: ChatCompletionChoice) -> ChatCompletionChoice:
    message = choice.message
    content = text(message.content) if isinstance(message.content, str) else [_content(one) for one in message.content]
    calls = [_call(call) for call in (message.tool_calls or [])[:MOST_CALLS]] or None
    if content == message.content and calls == (message.tool_calls or None):
        return choice
    return choice.model_copy(update={"message": message.model_copy(update={"content": content, "tool_calls": calls})})


def _content(one: Content) -> Content:
    if isinstance(one, ContentText):
        return one.model_copy(update={"text": text(one.text)})
    if isinstance(one, ContentReasoning):
        summary = None if one.summary is None else text(one.summary)
        return one.model_copy(update={"reasoning": text(one.reasoning), "summary": summary})
    return one


def _call(call: ToolCall) -> ToolCall:
    error = None if call.parse_error is None else text(call.parse_error, MOST_ARGUMENTS)
    arguments = call.arguments
    if not _is_plain(arguments, MOST_NESTING) or len(str(arguments)) > MOST_ARGUMENTS:
        arguments, error = {}, error or "The arguments are too long, nested too deeply, or not valid JSON."
    return replace(
        call,
        id=text(call.id, MOST_NAME),
        function=text(call.function, MOST_NAME),
        arguments=arguments,
        parse_error=error,
    )


def _is_plain(value: object, nesting: int) -> bool:
    """Whether a value is JSON that a log can hold: not nested deeper, with finite numbers of a usual size."""
    if isinstance(value, dict):
        return nesting > 0 and all(
            isinstance(key, str) and _is_plain(key, 0) and _is_plain(held, nesting - 1) for key, held in value.items()
        )
    if isinstance(value, list):
        return nesting > 0 and all(_is_plain(held, nesting - 1) for held in value)
    if isinstance(value, str):
        return not _SURROGATES.search(value)
    if isinstance(value, float):
        return isfinite(value)
    return value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < _LARGEST)
