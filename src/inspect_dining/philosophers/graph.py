"""One philosopher: a LangGraph graph over Inspect's messages that only makes decisions.

The graph's state is a `Deliberation`. It is compiled once and has no checkpointer: its memory is state that the seat
carries from one turn to the next. Any compiled graph or Inspect agent with the same contract can take a seat: it gets
messages and tools, calls the model, and returns the model's reply. It never runs a tool and never answers one; the
dinner reads the reply and moves the table.
"""

from collections.abc import Awaitable, Callable
from functools import cache
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypedDict

from inspect_ai.agent import AgentState
from inspect_ai.model import ChatMessage, ChatMessageAssistant, GenerateConfig, Model, ModelOutput
from inspect_ai.tool import ToolInfo, ToolParams

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.prompts import TOOLS
from inspect_dining.user_code import load_attribute

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable


class Deliberation(TypedDict, total=False):
    """The input and output of a philosopher.

    `messages`, `tools`, `model` and `config` are provided anew in every turn; `output` must be in the returned
    state. Every other key is the philosopher's own memory, which is passed back in the next turn.
    """

    messages: list[ChatMessage]
    tools: list[ToolInfo]
    model: Model
    config: GenerateConfig
    output: ModelOutput


Decide = Callable[[Deliberation], Awaitable[Deliberation]]
"""A philosopher: takes a deliberation and returns it with the model's reply in `output`."""

_GIVEN = ("messages", "tools", "model", "config", "output")
_NO_STEP_CAP = 1_000_000
"""LangGraph ends a graph after 25 steps by default."""


@cache
def tools() -> tuple[ToolInfo, ...]:
    """The six tools as Inspect offers them to a model; they are never executed."""
    return tuple(
        ToolInfo(name=action.value, description=text, parameters=ToolParams()) for action, text in TOOLS.items()
    )


@cache
def philosopher() -> Decide:
    """The default philosopher: a graph of one node that calls the model once."""
    from langgraph.graph import END, START, StateGraph

    async def decide(state: Deliberation) -> Deliberation:
        output = await state["model"].generate(
            state["messages"], tools=state["tools"], tool_choice="auto", config=state["config"]
        )
        return {"output": output}

    graph = StateGraph(Deliberation)
    graph.add_node("decide", decide)
    graph.add_edge(START, "decide")
    graph.add_edge("decide", END)
    return _by_graph("the philosopher", graph.compile())


def load_philosopher(name: str | None) -> Decide:
    """Loads a custom philosopher.

    Args:
        name: `package.module:name` of a compiled LangGraph graph, of an Inspect agent, or of an `@agent` function
            without required arguments; None for the default.

    Returns:
        The philosopher.

    Raises:
        BadInput: The object does not exist, or it cannot take a seat.
    """
    if name is None:
        return philosopher()
    if not isinstance(name, str):
        raise BadInput(f"philosopher={name!r} is not accepted: give package.module:name of a graph or an agent.")
    found = load_attribute(name, "philosopher")
    from langchain_core.runnables import Runnable

    if isinstance(found, Runnable):
        return _by_graph(name, found)
    if callable(found):
        try:
            agent: object = found if _awaits(found) else found()
        except Exception as error:  # a user's function may raise anything
            raise BadInput(f"The philosopher {name!r} cannot be made: {type(error).__name__}: {error}.") from error
        if callable(agent) and _awaits(agent):
            return _by_agent(name, agent)
    raise BadInput(
        f"The philosopher {name!r} cannot take a seat; give package.module:name of a compiled LangGraph graph "
        "or of an Inspect agent."
    )


def _awaits(found: object) -> bool:
    """Whether an object is an agent itself, and not a function that creates one."""
    return iscoroutinefunction(found) or iscoroutinefunction(getattr(found, "__call__", None))  # noqa: B004


def _by_graph(name: str, graph: "Runnable[Any, Any]") -> Decide:
    async def decide(given: Deliberation) -> Deliberation:
        state: Deliberation = await graph.ainvoke(given, {"recursion_limit": _NO_STEP_CAP})
        if not isinstance(state.get("output"), ModelOutput):
            raise TypeError(f"{name} returned no model reply: its state must hold a ModelOutput in 'output'.")
        return state

    return decide


def _by_agent(name: str, agent: Callable[..., Awaitable[AgentState]]) -> Decide:
    async def decide(given: Deliberation) -> Deliberation:
        asked = len(given["messages"])
        state = await agent(
            AgentState(messages=list(given["messages"])),
            tools=given["tools"],
            model=given["model"],
            config=given["config"],
        )
        if state.output.empty or not all(isinstance(m, ChatMessageAssistant) for m in state.messages[asked:]):
            raise TypeError(
                f"{name} must return the model's reply in state.output and answer no tool call: the dinner does."
            )
        return {"output": state.output}

    return decide


def memory_of(state: Deliberation) -> Deliberation:
    """A philosopher's memory: all of its state except what every turn provides anew."""
    kept: Deliberation = {}
    for key in state:
        if key not in _GIVEN:
            kept[key] = state[key]  # type: ignore[literal-required]  # keys of a philosopher of one's own
    return kept
