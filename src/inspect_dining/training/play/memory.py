"""A seat's memory in training; its prompts are those of an evaluation with the same memory.

Without memory, every turn has the system prompt and one observation. With a memory of k turns, the observation also
lists the seat's own last k. With `chat`, the conversation is kept: the model's replies with their calls, as the chat
template writes them, and the outcome of each call.
"""

from collections.abc import Sequence
from typing import Literal

from inspect_dining.philosophers.prompts import observation, system_prompt
from inspect_dining.philosophers.reading import Reply
from inspect_dining.philosophers.tokens import Message
from inspect_dining.table.moves import Turn
from inspect_dining.table.rules import Rules
from inspect_dining.table.view import View, describe

Memory = int | Literal["chat"]
"""A seat's own last k turns (0: none), or its whole conversation."""
EXTRA_CALL = "One action a turn: only your first call counted."
"""The tool result, in a kept conversation, of every call after the first; the same as in an evaluation."""


class Recollection:
    """The memory of one seat in one game."""

    def __init__(self, rules: Rules, memory: Memory) -> None:
        """Begins a game."""
        self._memory = memory
        self._seen: list[View] = []
        self._before: list[Message] = [{"role": "system", "content": system_prompt(rules)}]
        self._calls: list[str] = []

    def recalled(self, view: View) -> tuple[View, ...]:
        """The earlier views that the next observation shows, oldest first; `view` is remembered from now on."""
        length = self._memory if isinstance(self._memory, int) else 0
        recalled = tuple(self._seen[-length:]) if length else ()
        self._seen.append(view)
        return recalled

    def messages(self, view: View) -> Sequence[Message]:
        """The kept conversation, with the observation as its last message."""
        self._before.append({"role": "user", "content": observation(view)})
        return self._before

    def heard(self, reply: Reply) -> None:
        """Keeps the model's reply in the conversation."""
        message: dict[str, object] = {"role": "assistant", "content": reply.text}
        self._calls = [call.name or "unknown" for call in reply.calls]
        if reply.calls:
            message["tool_calls"] = [
                {
                    "type": "function",
                    "function": {
                        "name": call.name or "unknown",
                        "arguments": call.arguments if isinstance(call.arguments, dict) else {},
                    },
                }
                for call in reply.calls
            ]
        self._before.append(message)

    def came(self, turn: Turn) -> None:
        """Keeps the outcome of the reply: one result per call."""
        for place, name in enumerate(self._calls):
            answer = describe(turn) if place == 0 else EXTRA_CALL
            self._before.append({"role": "tool", "content": answer, "name": name})
        self._calls = []
