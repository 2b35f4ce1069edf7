"""The dinner: turn-taking under Inspect.

Each philosopher has one long-lived agent span, which is a lane in the viewer. The first card of the transcript recounts
the whole game once it has ended. After every round the dinner opens a span named after what happened, with the round's
card. In a simultaneous round every seat is asked before any reply is awaited. The record is written to the store after
every round, so it holds the rounds that were played, whatever ends the sample early.
"""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, Literal

import anyio
from anyio.abc import TaskGroup
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageAssistant, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError, span

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.graph import load_philosopher
from inspect_dining.philosophers.prompts import read_prompt
from inspect_dining.solvers.collector import collected_seldom
from inspect_dining.solvers.games import Answer, DinnerGame, PhilosophersGame, R, Told, V
from inspect_dining.solvers.inspect_private import Card, have_tool_approval
from inspect_dining.solvers.seat import SOURCE, Asked, ContextOverflow, Lane, Memory, Seat
from inspect_dining.table.rules import Rules, Split, episode_seed, is_whole
from inspect_dining.table.view import View

Failures = Literal["error", "crash"]
"""How a seat counts if its model fails: as an error of the episode, or as a crash of the seat."""


@solver
def dinner(
    rules: Rules | dict[str, str | int] | None = None,
    memory: Memory = 0,
    rescue: bool = False,
    philosopher: str | None = None,
    split: Split = "test",
    prompt: str = "default",
    failures: Failures = "error",
) -> Solver:
    """Seats one philosopher at every place and plays a game to its end.

    The sample's metadata may hold `rules` (see `Rules.options`), which override the argument; its id keys the game's
    chance. Models are bound by role (`seat_0`, `seat_1` and so on), falling back to the model of the evaluation. If the
    metadata hold a `seating`, a list with one role per seat, models are bound by those roles.

    Args:
        rules: The rules of the game, if the samples do not state them.
        memory: What a seat remembers: its own last k turns, or `chat` for its whole conversation.
        rescue: Whether one unambiguous call in the text counts if there is no native call.
        philosopher: `package.module:name` of your own philosopher (see `philosophers.graph`).
        split: The family of games that sample ids refer to.
        prompt: A prompt strategy (see `philosophers.prompts`), or the path of a text file.
        failures: How a seat counts if its model fails: as an `error` of the episode, or as a `crash` of the seat.

    Raises:
        BadInput: An argument is not accepted.
    """
    memory = accept_memory(memory)
    system = read_prompt(prompt, [rules] if isinstance(rules, Rules) else [])

    def lay(state: TaskState) -> PhilosophersGame:
        options = state.metadata.get("rules", rules)
        if isinstance(options, dict):
            options = Rules(**options)
        if not isinstance(options, Rules):
            raise BadInput("The dinner has no rules: give them to the solver, or in the metadata of the sample.")
        return PhilosophersGame(
            options, episode_seed(split, str(state.sample_id)), rescue, system, memory == "chat", failures == "crash"
        )

    return host(lay, memory, philosopher, _heard_instead)


def _heard_instead(game: DinnerGame[View, Answer]) -> DinnerGame[View, Answer] | None:
    """The other game whose messages are heard in this game, if there is one."""
    return game.other if isinstance(game, PhilosophersGame) else None


def host(
    lay: Callable[[TaskState], DinnerGame[V, R]],
    memory: Memory,
    philosopher: str | None,
    before: Callable[[DinnerGame[V, R]], DinnerGame[V, R] | None] = lambda game: None,
) -> Solver:
    """Plays any game that implements `DinnerGame` (see `solvers.games`) to its end.

    Args:
        lay: Takes the state of a sample and returns its game, ready to begin.
        memory: What a seat remembers.
        philosopher: `package.module:name` of your own philosopher.
        before: Takes a game and returns another that the same philosophers must finish first, or None.

    Raises:
        BadInput: There is no such philosopher.
    """
    decide = load_philosopher(philosopher)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        refuse_setting()
        refuse_message_limit(state, memory, philosopher)
        game = lay(state)
        about: dict[str, str | int] = {"episode": str(state.sample_id), "epoch": state.epoch}
        other = before(game)
        end = _End("stopped")
        players = _seating(state.metadata.get("seating"), game.n)
        first = Card("The game is being played; once it has ended, this card recounts it.", SOURCE)
        try:
            if other is not None:
                async with span("the game whose messages are heard", type="round"):
                    end = await _dine(
                        other,
                        [
                            Seat(i, decide, other, {**about, "donor": 1}, memory, player=player)
                            for i, player in enumerate(players)
                        ],
                    )
            if other is None or other.over:
                seats = [Seat(i, decide, game, about, memory, player=player) for i, player in enumerate(players)]
                end = await _dine(game, seats, state)
        finally:
            # also on a cancellation, which no handler catches
            state.store.set(game.key, game.record(end.stopped))
            account = game.account(end.stopped)
            first.rewrite(account)
            _leave_message(state, account, game.n)
        if end.failure is not None:
            raise end.failure
        state.output = ModelOutput.from_content("dinner", game.result(end.stopped))
        return state

    return solve


def _leave_message(state: TaskState, account: str, n: int) -> None:
    """Recounts the game in the sample's messages, which a viewer shows alongside the transcript."""
    if state.message_limit is not None and len(state.messages) >= state.message_limit:
        return  # another message would hit the sample's limit
    where = f"Each philosopher's own conversation is in its lane of the transcript, `philosopher 0` to `{n - 1}`."
    state.messages.append(ChatMessageAssistant(content=f"{account}\n\n{where}", source="generate"))


@dataclass(frozen=True, slots=True)
class _End:
    """How a dinner ended.

    Attributes:
        stopped: Why it stopped, if the game is not over.
        failure: The exception to raise once the game is settled.
    """

    stopped: str
    failure: Exception | None = None


async def _dine(game: DinnerGame[V, R], seats: list[Seat[V, R]], state: TaskState | None = None) -> _End:
    """Plays a game to its end or to a failure; given a state, writes the record to its store after every round."""
    end = _End("stopped")
    async with _table(seats) as table:
        try:
            with collected_seldom():
                await _play(game, table, state)
        except ContextOverflow as overflow:
            end = _End(str(overflow))
            table.abandon()
        except LimitExceededError as limit:
            end = _End(f"{limit.type} limit", limit)
            table.abandon()
        except Exception as error:  # noqa: BLE001  re-raised by the dinner once no seat waits for a reply
            end = _End(f"error ({type(error).__name__})", error)
            table.abandon()
        finally:
            # a span logs what changed in the store while it was open; the lanes need not repeat the record
            if state is not None and game.key in state.store:
                state.store.delete(game.key)
    return end


def _seating(seating: object, n: int) -> list[str | None]:
    """The model role of each seat's player, if the sample has a seating.

    Raises:
        BadInput: It is not a list with one role per seat.
    """
    if seating is None:
        return [None] * n
    if not isinstance(seating, list) or len(seating) != n or not all(isinstance(role, str) for role in seating):
        raise BadInput(
            f"The sample's seating is {seating!r}; a list with one model role for each of the {n} seats is expected."
        )
    return seating


def accept_memory(memory: object) -> Memory:
    """Checks the requested memory.

    Raises:
        BadInput: It is neither a whole number of turns nor `chat`.
    """
    if memory == "chat":
        return "chat"
    if is_whole(memory) and memory >= 0:
        return memory
    raise BadInput(f"memory={memory!r} is not accepted: give a whole number of turns to remember (0: none), or chat.")


def refuse_setting() -> None:
    """Refuses a run in which no dinner can be played.

    Raises:
        BadInput: An approval policy is in force, or Inspect does not run on asyncio.
    """
    backend = os.environ.get("INSPECT_ASYNC_BACKEND", "asyncio")
    if backend != "asyncio":
        raise BadInput(
            f"INSPECT_ASYNC_BACKEND={backend} is not accepted: philosophers are LangGraph graphs, which run on asyncio "
            "only. Leave the variable out."
        )
    if have_tool_approval():
        raise BadInput(
            "An approval policy is in force, and a dinner has nothing to approve: its tool calls are moves in a game "
            "and are never executed. Leave --approval out."
        )


def refuse_message_limit(state: TaskState, memory: Memory, philosopher: str | None) -> None:
    """Refuses a limit on messages that could never be reached.

    Raises:
        BadInput: Every request is a separate conversation of two messages, and the limit is higher.
    """
    if state.message_limit is not None and state.message_limit > 2 and memory != "chat" and philosopher is None:
        raise BadInput(
            f"--message-limit {state.message_limit} would have no effect: Inspect counts the messages of one "
            f"conversation, and with memory={memory} every request has two. Give -T memory=chat, or --turn-limit for "
            "a limit on model calls."
        )


class _Table(Generic[V, R]):
    """The seats' lanes, which are asked and informed together."""

    def __init__(self, seats: list[Seat[V, R]], tasks: TaskGroup) -> None:
        self._tasks = tasks
        sender, self._replies = anyio.create_memory_object_stream[tuple[int, R | Exception]](len(seats))
        self._lanes = []
        for seat in seats:
            views, inbox = anyio.create_memory_object_stream[Asked[V] | Told](2)
            self._lanes.append(Lane(seat, views, inbox, sender.clone()))
            tasks.start_soon(self._lanes[-1].run)
        sender.close()

    async def ask(self, game: DinnerGame[V, R]) -> list[R]:
        """Shows its view to every seat that is to move, then awaits all their decisions.

        Raises:
            Exception: Whatever the first failed seat raised.
        """
        for number in game.to_move:
            await self._lanes[number].views.send(Asked(game.view(number)))
        readings: dict[int, R] = {}
        while len(readings) < len(game.to_move):
            number, reply = await self._replies.receive()
            if isinstance(reply, Exception):
                if isinstance(reply, (ContextOverflow, LimitExceededError, BadInput)) or not game.fail(number):
                    raise reply
                transcript().info(f"Philosopher {number} crashed: {reply}", source=SOURCE)
                continue
            readings[number] = reply
        return [readings[number] for number in game.to_move]

    async def tell(self, game: DinnerGame[V, R], seats: tuple[int, ...]) -> None:
        """Tells seats the outcome of their turn."""
        for number in seats:
            told = game.told(number)
            if told is not None:
                await self._lanes[number].views.send(told)

    def said(self) -> dict[int, str]:
        """What each seat said in its latest reply."""
        return {lane.seat.number: lane.seat.said for lane in self._lanes}

    def abandon(self) -> None:
        """Ends every lane at once, including lanes that wait for a reply."""
        self._tasks.cancel_scope.cancel()

    def close(self) -> None:
        """Lets every lane end after it has received its last outcome."""
        for lane in self._lanes:
            lane.views.close()


@asynccontextmanager
async def _table(seats: list[Seat[V, R]]) -> AsyncIterator[_Table[V, R]]:
    """Opens a lane for every seat, and waits until all have ended."""
    async with anyio.create_task_group() as tasks:
        table = _Table(seats, tasks)
        yield table
        table.close()


async def _play(game: DinnerGame[V, R], table: _Table[V, R], state: TaskState | None) -> None:
    """Plays to the end, with one span and one card per round."""
    while not game.over:
        closed = False
        while not closed:
            moving = game.to_move
            closed = game.move(await table.ask(game))
            await table.tell(game, moving)
        # opened only now, since a span's name cannot change and this name says what happened
        async with span(game.heading(), type="round"):
            transcript().info(game.card(table.said()), source=SOURCE)
        # outside the round's span, which would log this change once more
        if state is not None:
            state.store.set(game.key, game.record())
