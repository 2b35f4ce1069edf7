"""One seat under Inspect: its own lane in the viewer, its model, its memory, and its conversation."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Generic, Literal

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentReasoning,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
    model_roles,
)
from inspect_ai.util import LimitExceededError, span

from inspect_dining.philosophers.bounds import bounded, replayable
from inspect_dining.philosophers.graph import Decide, Deliberation, memory_of
from inspect_dining.philosophers.reading import Stop, reply_of
from inspect_dining.philosophers.stops import FINISH, NOT_GIVEN
from inspect_dining.solvers.games import DinnerGame, R, Told, V
from inspect_dining.solvers.hearing import heard
from inspect_dining.solvers.inspect_private import active_generate_config
from inspect_dining.table.moves import Kind

Memory = int | Literal["chat"]
"""What a seat remembers: its own last k turns (0: none), or its whole conversation."""

MAX_TOKENS = 2048
"""The token limit of one reply, unless the user sets another."""
EXTRA_CALL = "One action a turn: only your first call counted."
SOURCE = "inspect_dining"
"""The source named by the dinner's info events."""


class ContextOverflow(Exception):
    """A model's context could not hold the conversation; the game is cut."""


@dataclass(slots=True)
class Seat(Generic[V, R]):
    """One philosopher at the table.

    Attributes:
        number: The seat, 0 to n-1.
        decide: Its philosopher.
        game: The game being played.
        about: Metadata about the episode, attached to every observation.
        memory: What the seat remembers.
        said: The text of its latest reply; its reasoning if there was no text.
        player: The model role of the player that sits here at a mixed table, or None.
    """

    number: int
    decide: Decide
    game: DinnerGame[V, R]
    about: dict[str, str | int]
    memory: Memory
    said: str = ""
    player: str | None = None
    _model: Model = field(init=False)
    _config: GenerateConfig = field(init=False)
    _mind: Deliberation = field(default_factory=lambda: Deliberation())
    _seen: list[V] = field(default_factory=list)
    _latest: V | None = None
    _conversation: list[ChatMessage] = field(default_factory=list)
    _call_ids: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        role, run = f"seat_{self.number}", active_generate_config()
        usual = get_model() if self.player is None else get_model(role=self.player, default=get_model())
        self._model = heard(get_model(role=role, default=usual))
        own = self._model.config
        # the run's settings apply to every seat; the model's own settings override the dinner's defaults
        limit = MAX_TOKENS if own.max_tokens is None else None
        parallel = False if own.parallel_tool_calls is None else None
        if role in model_roles() or self.player in model_roles():
            # a role keeps its own sampling, as everywhere in Inspect; the bounds on a reply apply to every seat
            self._config = GenerateConfig(
                max_tokens=limit and (run.max_tokens or limit),
                parallel_tool_calls=run.parallel_tool_calls is True if parallel is False else None,
            )
        else:
            # a copy that counts tokens for this seat; Inspect merges the run's settings into the original model only
            self._config = run.model_copy(
                update={
                    "max_tokens": limit if run.max_tokens is None else run.max_tokens,
                    "parallel_tool_calls": parallel if run.parallel_tool_calls is None else run.parallel_tool_calls,
                }
            )

    async def turn(self, view: V) -> R:
        """Asks the philosopher for its decision.

        Raises:
            ContextOverflow: The conversation no longer fits the model's context.
            RuntimeError: The provider gave no reply; an error never counts as a silent philosopher.
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
        output = bounded(self._mind["output"])
        self._mind = memory_of(self._mind)
        reading = self._read(output)
        self.said = words_of(output)
        self._latest = view
        if self.memory == "chat":
            self._conversation.append(replayable(output.message, self._call_ids))
        else:
            self._conversation = []
        return reading

    def _read(self, output: ModelOutput) -> R:
        reply = reply_of(output) if output.choices else None
        if reply is not None and reply.stop is Stop.OVERFLOW:
            raise ContextOverflow(f"the context of philosopher {self.number} overflowed")
        if reply is None or (output.error and reply.stop is not Stop.REFUSED):
            raise self._failure(output.error or "no choices")
        word = (output.metadata or {}).get(FINISH, output.stop_reason)
        if reply.stop is Stop.FAILED:
            raise self._failure(f"it ended with the finish reason {word!r}")
        reading = self.game.read(reply)
        if reply.stop is Stop.UNKNOWN and reading.kind is Kind.EMPTY and word != NOT_GIVEN:
            raise self._failure(f"nothing came, and the finish reason {word!r} is not known")
        return reading

    def _failure(self, why: str) -> RuntimeError:
        """An error of the episode; it never counts as a silent philosopher."""
        return RuntimeError(f"The model of philosopher {self.number} ({self._model}) gave no reply: {why}.")

    def answer(self, told: Told) -> None:
        """Tells the seat the outcome of its reply: a line in its lane and, if kept, a result per call."""
        if told.turn and self._latest is not None:
            self._seen.append(self._latest)
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


def words_of(output: ModelOutput) -> str:
    """The text of a reply, or its reasoning if there is no text."""
    if not output.choices:
        return ""
    if output.completion.strip() or isinstance(output.message.content, str):
        return output.completion
    thoughts = [part.reasoning for part in output.message.content if isinstance(part, ContentReasoning)]
    return " ".join(thoughts)


@dataclass(frozen=True, slots=True)
class Asked(Generic[V]):
    """A turn: what a seat sees and must reply to."""

    view: V


@dataclass(slots=True)
class Lane(Generic[V, R]):
    """The channel between the dinner and one seat's own task, which emits all of the seat's events."""

    seat: Seat[V, R]
    views: MemoryObjectSendStream[Asked[V] | Told]
    _inbox: MemoryObjectReceiveStream[Asked[V] | Told]
    _outbox: MemoryObjectSendStream[tuple[int, R | Exception]]

    async def run(self) -> None:
        """Takes turns until the dinner closes the channel; passes a failure to the dinner, which settles the game."""
        async with span(f"philosopher {self.seat.number}", type="agent"), self._inbox, self._outbox:
            async for told in self._inbox:
                if isinstance(told, Asked):
                    await self._outbox.send((self.seat.number, await self._decision(told.view)))
                else:
                    self.seat.answer(told)

    async def _decision(self, view: V) -> R | Exception:
        """What the seat decides, or why it could not: the dinner handles every failure.

        A cancellation that no enclosing scope requested comes from the philosopher's own code, and so does an exit.
        Passed through, either would end the dinner silently.
        """
        try:
            return await self.seat.turn(view)
        except Exception as error:  # noqa: BLE001  the dinner handles it
            return cause(error)
        except (SystemExit, BaseExceptionGroup) as error:
            return cause(error)
        except anyio.get_cancelled_exc_class() as error:
            if anyio.current_effective_deadline() == -inf:
                raise
            task = asyncio.current_task()
            while task is not None and task.cancelling():
                task.uncancel()
            return cause(error)


def cause(error: BaseException) -> Exception:
    """The single exception that explains why a turn failed.

    For a group, this is the limit in it, if there is one, else the first exception. An exit or a cancellation from the
    philosopher's own code is converted to an error.
    """
    leaves = list(_leaves(error))
    failures = [one for one in leaves if isinstance(one, Exception)]
    limits = [one for one in failures if isinstance(one, LimitExceededError)]
    if limits or failures:
        return (limits or failures)[0]
    return RuntimeError(f"The philosopher's own code ended its turn by {type(leaves[0]).__name__}.")


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error
