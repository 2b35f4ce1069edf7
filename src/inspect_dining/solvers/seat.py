"""One seat under Inspect: a lane of its own in the viewer, its model, its memory, and its conversation."""

from dataclasses import dataclass, field
from typing import Generic, Literal

from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
    model_roles,
)
from inspect_ai.util import span

from inspect_dining.philosophers.graph import Decide, Deliberation, memory_of
from inspect_dining.philosophers.reading import Stop, reply_of
from inspect_dining.solvers.games import DinnerGame, R, Told, V
from inspect_dining.solvers.inspect_private import active_generate_config

Memory = int | Literal["chat"]
"""What a seat remembers: its own last k turns (0: none), or its whole conversation."""

MAX_TOKENS = 2048
"""The most tokens of one reply, unless the user sets another limit."""
EXTRA_CALL = "One action a turn: only your first call counted."
SOURCE = "inspect_dining"
"""The source that the dinner's info events name."""


class ContextOverflow(Exception):
    """A model's context could not hold the conversation; the game is cut."""


@dataclass(slots=True)
class Seat(Generic[V, R]):
    """One philosopher at the table.

    Attributes:
        number: The seat, 0 to n-1.
        decide: Its philosopher.
        game: The game that is played.
        about: What every observation's metadata says of the episode.
        memory: What it remembers.
    """

    number: int
    decide: Decide
    game: DinnerGame[V, R]
    about: dict[str, str | int]
    memory: Memory
    _model: Model = field(init=False)
    _config: GenerateConfig = field(init=False)
    _mind: Deliberation = field(default_factory=lambda: Deliberation())
    _seen: list[V] = field(default_factory=list)
    _conversation: list[ChatMessage] = field(default_factory=list)

    def __post_init__(self) -> None:
        role, run = f"seat_{self.number}", active_generate_config()
        self._model = get_model(role=role, default=get_model())
        if role in model_roles():
            # a role's sampling stays its own, as everywhere in Inspect; what bounds a reply holds for every seat
            own = self._model.config
            self._config = GenerateConfig(
                max_tokens=(run.max_tokens or MAX_TOKENS) if own.max_tokens is None else None,
                parallel_tool_calls=run.parallel_tool_calls is True if own.parallel_tool_calls is None else None,
            )
        else:
            # a copy that counts tokens for this seat; Inspect merges the run's settings into the original model only
            self._config = run

    async def turn(self, view: V) -> R:
        """Asks the philosopher for its decision.

        Raises:
            ContextOverflow: The conversation no longer fits the model's context.
            RuntimeError: The provider gave no reply; an error is never read as a quiet philosopher.
        """
        about = {**self.about, "seat": self.number, "round": self.game.number}
        recalled = self._seen[-self.memory :] if isinstance(self.memory, int) and self.memory else []
        asked = ChatMessageUser(content=self.game.observation(view, recalled), metadata=about)
        if not self._conversation:
            self._conversation = [ChatMessageSystem(content=self.game.system(self.number))]
        self._conversation.append(asked)
        self._mind = await self.decide({
            **self._mind,
            "messages": list(self._conversation),
            "tools": list(self.game.tools),
            "model": self._model,
            "config": self._config,
        })
        output = self._mind["output"]
        self._mind = memory_of(self._mind)
        reading = self._read(output)
        self._seen.append(view)
        if self.memory == "chat":
            self._conversation.append(output.message)
        else:
            self._conversation = []
        return reading

    def _read(self, output: ModelOutput) -> R:
        reply = reply_of(output) if output.choices else None
        if reply is not None and reply.stop is Stop.OVERFLOW:
            raise ContextOverflow(f"the context of philosopher {self.number} overflowed")
        if reply is None or (output.error and reply.stop is not Stop.REFUSED):
            raise RuntimeError(
                f"The model of philosopher {self.number} ({self._model}) gave no reply: {output.error or 'no choices'}."
            )
        return self.game.read(reply)

    def answer(self, told: Told) -> None:
        """Tells the seat what came of its turn: a line in its lane and, in a kept conversation, one answer a call."""
        transcript().info(told.line, source=SOURCE)
        if self.memory == "chat":
            latest = self._conversation[-1]
            calls = latest.tool_calls or [] if isinstance(latest, ChatMessageAssistant) else []
            self._conversation += [
                ChatMessageTool(
                    content=told.answer if place == 0 else EXTRA_CALL, tool_call_id=call.id, function=call.function
                )
                for place, call in enumerate(calls)
            ]


@dataclass(frozen=True, slots=True)
class Asked(Generic[V]):
    """A turn: what a seat sees, and a reply is wanted."""

    view: V


@dataclass(slots=True)
class Lane(Generic[V, R]):
    """The channel between the dinner and one seat's own task, in which all of the seat's events happen."""

    seat: Seat[V, R]
    views: MemoryObjectSendStream[Asked[V] | Told]
    _inbox: MemoryObjectReceiveStream[Asked[V] | Told]
    _outbox: MemoryObjectSendStream[tuple[int, R | Exception]]

    async def run(self) -> None:
        """Takes turns until the dinner closes the channel; a failure is handed to the dinner, which settles it."""
        async with span(f"philosopher {self.seat.number}", type="agent"), self._inbox, self._outbox:
            async for told in self._inbox:
                if isinstance(told, Asked):
                    try:
                        reply: R | Exception = await self.seat.turn(told.view)
                    except Exception as error:  # noqa: BLE001  every failure is the dinner's to settle
                        reply = error
                    await self._outbox.send((self.seat.number, reply))
                else:
                    self.seat.answer(told)
