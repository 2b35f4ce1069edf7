"""Replies for the tests of the reading."""

from typing import Any

from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, Content, ModelOutput, StopReason
from inspect_ai.tool import ToolCall

from inspect_dining.philosophers.reading import Call, Reply, Stop, read
from inspect_dining.table.moves import Reading

HERMES = '<tool_call>\n{"name": "eat", "arguments": {}}\n</tool_call>'


def output(
    content: str | list[Content] = "",
    calls: list[ToolCall] | None = None,
    stop: StopReason = "stop",
) -> ModelOutput:
    """What Inspect returns for a reply."""
    message = ChatMessageAssistant(content=content, tool_calls=calls)
    return ModelOutput(model="m", choices=[ChatCompletionChoice(message=message, stop_reason=stop)])


def called(name: str, arguments: dict[str, Any] | None = None, error: str | None = None) -> ToolCall:
    """A native call as Inspect holds it."""
    return ToolCall(id="c", function=name, arguments=arguments or {}, parse_error=error)


def of(*calls: Call, text: str = "", stop: Stop = Stop.FINISHED) -> Reply:
    """A reply."""
    return Reply(calls, text, stop)


def in_text(text: str) -> Reading:
    """The reading of a text with rescue on."""
    return read(of(text=text), rescue=True)


def unparsed(raw: str) -> Call:
    """A call that Inspect could not parse, as it words it."""
    return Call("unknown", {}, f"Error parsing the following tool call arguments:\n\n{raw}\n\nError details: Required.")


ALONE = [
    "{call}",
    "[{call}]",
    "<tool_call>{call}</tool_call>",
    "<tool_call>\n{call}",
    "[TOOL_CALLS] [{call}]",
    "<|python_tag|>{call}",
    "```json\n{call}\n```",
    '{{"function_call": {call}}}',
    "<function=eat>{{}}</function>",
    "[TOOL_CALLS]eat[ARGS]{{}}",
    "[eat()]",
    '<invoke name="eat"></invoke>',
    "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>eat<\uff5ctool\u2581sep\uff5c>{{}}<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>",
    "```tool_code\nprint(default_api.eat())\n```",
    "<|channel|>commentary to=functions.eat <|constrain|>json<|message|>{{}}<|call|>",
    "<|tool_call>call:eat{{}}<tool_call|>",
]
CALLS = [form.format(call='{"name": "eat", "arguments": {}}') for form in ALONE]
"""One call of `eat` in each syntax that is rescued."""
