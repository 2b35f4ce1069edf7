"""Three wire formats of model providers, read and written: chat completions, responses (OpenAI), messages (Anthropic).

A request is read into one `Asked`, whatever its format; what the player says is written with the vendor's own types, so
that a reply which the vendor could not send does not pass.
"""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, get_args

from anthropic.types import Message, StopReason
from openai.types.chat import ChatCompletion
from openai.types.responses import Response, ResponseStatus
from pydantic import BaseModel, Field, JsonValue

from inspect_dining.table import View, parse

Json = dict[str, JsonValue]
NO_WORD = "null"
"""Stands for a finish reason that is not given."""
_NAME = re.compile("[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that a player makes.

    Attributes:
        name: The tool.
        arguments: Its arguments as text, which chat completions and responses carry as it is.
        id: Its id, or empty for one that the server makes up.
    """

    name: str
    arguments: str = "{}"
    id: str = ""


@dataclass(frozen=True, slots=True)
class Say:
    """What a player says.

    Attributes:
        calls: Its tool calls.
        text: Its text.
        reasoning: Its reasoning, where the format has a place for it.
        finish: Why it stopped, in the format's own word; empty for the usual one.
        tokens: What it cost: tokens of the prompt and of the reply.
        error: An error that is reported within the reply, as gateways do.
    """

    calls: tuple[Call, ...] = ()
    text: str = ""
    reasoning: str = ""
    finish: str = ""
    tokens: tuple[int, int] = (100, 5)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a conversation, in order.

    Attributes:
        role: Who it is by: `system`, `user`, `assistant`; `call` for a tool call and `answer` for the answer to one.
        text: Its text; of a call, the tool and its arguments.
        id: The id of the call, of a call or an answer.
    """

    role: Literal["system", "user", "assistant", "call", "answer"]
    text: str
    id: str = ""


@dataclass(frozen=True)
class Asked:
    """One request.

    Attributes:
        path: The path that it was sent to.
        headers: Its headers, names in lower case.
        body: Its body.
        parts: The conversation in it.
        tools: Each tool's name, description and schema of arguments.
    """

    path: str
    headers: dict[str, str]
    body: Json
    parts: tuple[Part, ...]
    tools: tuple[tuple[str, str, JsonValue], ...]

    @cached_property
    def view(self) -> View:
        """What the philosopher sees, by the latest observation."""
        return parse(next(part.text for part in reversed(self.parts) if part.role == "user"))

    def check(self) -> None:
        """Refuses (`ValueError`) a conversation that the strictest vendors refuse.

        Names and ids of calls have their letters, ids are their own, arguments are an object, each call has one answer
        right after it, no assistant says nothing, and user and assistant take turns.
        """
        taken: set[str] = set()
        waiting: list[str] = []
        last = "user"
        for place, part in enumerate(self.parts):
            if waiting and part.role not in ("call", "answer"):
                raise ValueError(f"Calls without an answer: {waiting}.")
            if part.role == "call":
                name, _, arguments = part.text.partition(" ")
                if not _NAME.fullmatch(name) or not _NAME.fullmatch(part.id) or part.id in taken:
                    raise ValueError(f"No call is named {name!r} with the id {part.id!r}.")
                if arguments and not isinstance(json.loads(arguments), dict):
                    raise ValueError(f"The arguments {arguments!r} are no object.")
                taken.add(part.id)
                waiting.append(part.id)
            elif part.role == "answer":
                if not waiting or waiting.pop(0) != part.id:
                    raise ValueError(f"The answer to {part.id!r} comes out of turn.")
            elif part.role == "assistant":
                calls = place + 1 < len(self.parts) and self.parts[place + 1].role == "call"
                if not part.text.strip() and not calls:
                    raise ValueError("An assistant says nothing.")
            if part.role in ("user", "assistant"):
                if (part.role == last and part.role == "assistant") or (part.role == "user" and last == "asked"):
                    raise ValueError(f"Two {part.role}s speak one after the other.")
                last = "asked" if part.role == "user" else part.role
            elif part.role in ("call", "answer"):
                last = "user" if part.role == "answer" else part.role

    def ids(self, role: Literal["call", "answer"]) -> list[str]:
        """The ids of all calls, or of all answers, in order."""
        return [part.id for part in self.parts if part.role == role]


class Wire(Protocol):
    """A wire format."""

    path: str
    """The path that it is served at, below the base URL."""
    base: str
    """What the base URL ends with."""
    cut: str
    """The word for a reply that the token limit cut."""
    filtered: str
    """The word for a reply that was withheld."""

    def read(self, path: str, headers: dict[str, str], body: Json) -> Asked:
        """Reads a request, and refuses (`ValueError`) what is not in the format."""

    def write(self, said: Say, number: int, model: JsonValue) -> str:
        """Writes the reply to the request of that number."""


class _Text(BaseModel, extra="allow"):
    type: Literal["text", "input_text", "output_text"]
    text: str


def _plain(content: str | list[_Text] | None) -> str:
    return content if isinstance(content, str) else "".join(text.text for text in content or [])


def _call_id(call: Call, number: int, place: int) -> str:
    return call.id or f"call_{number}_{place}"


class _Function(BaseModel, extra="forbid"):
    name: str
    arguments: str


class _ChatCall(BaseModel, extra="forbid"):
    id: str
    type: Literal["function"]
    function: _Function


class _ChatMessage(BaseModel, extra="forbid"):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[_Text] | None = None
    tool_calls: list[_ChatCall] | None = None
    tool_call_id: str = ""
    reasoning: str | None = None
    reasoning_content: str | None = None

    def parts(self) -> list[Part]:
        text = _plain(self.content)
        if self.role == "tool":
            return [Part("answer", text, self.tool_call_id)]
        if self.role != "assistant":
            return [Part("user" if self.role == "user" else "system", text)]
        calls = [
            Part("call", f"{call.function.name} {call.function.arguments}", call.id) for call in self.tool_calls or ()
        ]
        return [Part("assistant", text), *calls]


class _ChatFunction(BaseModel, extra="forbid"):
    name: str
    description: str
    parameters: JsonValue
    strict: bool | None = None


class _ChatTool(BaseModel, extra="allow"):
    type: Literal["function"]
    function: _ChatFunction


class _ChatBody(BaseModel, extra="allow"):
    model: str
    messages: list[_ChatMessage] = Field(min_length=1)
    tools: list[_ChatTool] = []


class ChatCompletions:
    """OpenAI's chat completions, which most servers of open models speak too."""

    path = "/chat/completions"
    base = "/v1"
    cut = "length"
    filtered = "content_filter"

    def read(self, path: str, headers: dict[str, str], body: Json) -> Asked:
        """Reads a request."""
        chat = _ChatBody.model_validate(body)
        parts = [part for message in chat.messages for part in message.parts()]
        tools = [(tool.function.name, tool.function.description, tool.function.parameters) for tool in chat.tools]
        return Asked(path, headers, body, tuple(parts), tuple(tools))

    def write(self, said: Say, number: int, model: JsonValue) -> str:
        """Writes a reply."""
        calls: list[JsonValue] = [
            {
                "id": _call_id(call, number, place),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for place, call in enumerate(said.calls)
        ]
        message: Json = {"role": "assistant", "content": said.text or None}
        if calls:
            message["tool_calls"] = calls
        if said.reasoning:
            message["reasoning"] = said.reasoning  # as vLLM and OpenRouter have it; OpenAI shows none
        prompt, reply = said.tokens
        finish = said.finish or ("tool_calls" if calls else "stop")
        usual = finish if finish in ("length", "tool_calls", "content_filter", "function_call") else "stop"
        made = ChatCompletion.model_validate({
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": usual, "logprobs": None}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply},
        }).model_dump(exclude_unset=True)
        choice = made["choices"][0]
        choice["finish_reason"] = None if finish == NO_WORD else finish
        if said.error:
            choice["error"] = {"code": 502, "message": said.error}
        return json.dumps(made)


class _Item(BaseModel, extra="allow"):
    type: Literal["message", "function_call", "function_call_output", "reasoning"] = "message"
    role: Literal["system", "developer", "user", "assistant", ""] = ""
    content: str | list[_Text] | None = None
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    output: str = ""

    def part(self) -> Part | None:
        if self.type == "function_call":
            return Part("call", f"{self.name} {self.arguments}", self.call_id)
        if self.type == "function_call_output":
            return Part("answer", self.output, self.call_id)
        if self.type == "reasoning":
            return None
        return Part(self.role if self.role in {"user", "assistant"} else "system", _plain(self.content))


class _ResponsesTool(BaseModel, extra="forbid"):
    type: Literal["function"]
    name: str
    description: str
    parameters: JsonValue
    strict: bool | None = None


class _ResponsesBody(BaseModel, extra="allow"):
    model: str
    input: str | list[_Item] = Field(min_length=1)
    tools: list[_ResponsesTool] = []


class Responses:
    """OpenAI's responses, which Inspect's `openai/` speaks with its newer models."""

    path = "/responses"
    base = "/v1"
    cut = "max_output_tokens"
    filtered = "content_filter"

    def read(self, path: str, headers: dict[str, str], body: Json) -> Asked:
        """Reads a request."""
        asked = _ResponsesBody.model_validate(body)
        items = [_Item(role="user", content=asked.input)] if isinstance(asked.input, str) else asked.input
        parts = [part for item in items if (part := item.part()) is not None]
        tools = [(tool.name, tool.description, tool.parameters) for tool in asked.tools]
        return Asked(path, headers, body, tuple(parts), tuple(tools))

    def write(self, said: Say, number: int, model: JsonValue) -> str:
        """Writes a reply."""
        items: list[JsonValue] = []
        if said.reasoning:
            summary: JsonValue = [{"type": "summary_text", "text": said.reasoning}]
            items.append({"type": "reasoning", "id": f"rs_{number}", "summary": summary})
        if said.text:
            content: JsonValue = [{"type": "output_text", "text": said.text, "annotations": []}]
            items.append({
                "type": "message",
                "id": f"msg_{number}",
                "role": "assistant",
                "status": "completed",
                "content": content,
            })
        items += [
            {
                "type": "function_call",
                "id": f"fc_{number}_{place}",
                "call_id": _call_id(call, number, place),
                "name": call.name,
                "arguments": call.arguments,
                "status": "completed",
            }
            for place, call in enumerate(said.calls)
        ]
        prompt, reply = said.tokens
        status = said.finish if said.finish in get_args(ResponseStatus) else "incomplete"
        reason = said.finish if status == "incomplete" else ""
        made = Response.model_validate({
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 0,
            "model": model,
            "status": status if said.finish else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if reason else None,
            "output": items,
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": prompt,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": reply,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": prompt + reply,
            },
        }).model_dump(exclude_unset=True)
        if reason:
            made["incomplete_details"] = {"reason": reason}
        return json.dumps(made)


class _Block(BaseModel, extra="allow"):
    type: Literal["text", "tool_use", "tool_result", "thinking"]
    text: str = ""
    id: str = ""
    name: str = ""
    tool_use_id: str = ""
    content: str | list[_Text] | None = None

    def part(self, role: Literal["user", "assistant"]) -> Part | None:
        if self.type == "tool_use":
            return Part("call", self.name, self.id)
        if self.type == "tool_result":
            return Part("answer", _plain(self.content), self.tool_use_id)
        return None if self.type == "thinking" else Part(role, self.text)


class _Turn(BaseModel, extra="forbid"):
    role: Literal["user", "assistant"]
    content: str | list[_Block]

    def parts(self) -> list[Part]:
        if isinstance(self.content, str):
            return [Part(self.role, self.content)]
        return [part for block in self.content if (part := block.part(self.role)) is not None]


class _MessagesTool(BaseModel, extra="allow"):
    name: str
    description: str
    input_schema: JsonValue


class _MessagesBody(BaseModel, extra="allow"):
    model: str
    max_tokens: int = Field(ge=1)
    system: list[_Text] = []
    messages: list[_Turn] = Field(min_length=1)
    tools: list[_MessagesTool] = []


class Messages:
    """Anthropic's messages."""

    path = "/v1/messages"
    base = ""
    cut = "max_tokens"
    filtered = "refusal"

    def read(self, path: str, headers: dict[str, str], body: Json) -> Asked:
        """Reads a request."""
        asked = _MessagesBody.model_validate(body)
        parts = [Part("system", text.text) for text in asked.system]
        parts += [part for turn in asked.messages for part in turn.parts()]
        tools = [(tool.name, tool.description, tool.input_schema) for tool in asked.tools]
        return Asked(path, headers, body, tuple(parts), tuple(tools))

    def write(self, said: Say, number: int, model: JsonValue) -> str:
        """Writes a reply."""
        blocks: list[JsonValue] = []
        if said.reasoning:
            blocks.append({"type": "thinking", "thinking": said.reasoning, "signature": f"sig_{number}"})
        if said.text:
            blocks.append({"type": "text", "text": said.text})
        blocks += [
            {"type": "tool_use", "id": _call_id(call, number, place), "name": call.name, "input": {}}
            for place, call in enumerate(said.calls)
        ]
        prompt, reply = said.tokens
        usual = said.finish if said.finish in get_args(StopReason) else "end_turn"
        made = Message.model_validate({
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": blocks,
            "stop_reason": usual,
            "stop_sequence": None,
            "usage": {"input_tokens": prompt, "output_tokens": reply},
        }).model_dump(exclude_unset=True)
        made["stop_reason"] = (
            None if said.finish == NO_WORD else said.finish or ("tool_use" if said.calls else "end_turn")
        )
        return json.dumps(made)
