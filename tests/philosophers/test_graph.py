"""Whoever decides can take the seats: the default graph, a graph or an agent of one's own, and nobody else."""

from pathlib import Path
from typing import TypedDict

import pytest
from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.tool import ToolInfo
from langgraph.graph import END, START, StateGraph

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.graph import load_philosopher
from inspect_dining.table import Rules, episode_seed, play
from inspect_dining.tasks import philosophers
from tests.solvers.harness import Talker, calls, left_first, record_of, run, samples

HERE = "tests.philosophers.test_graph"


class Thoughts(TypedDict, total=False):
    """A state of one's own: the contract's keys, and a memory."""

    messages: list[ChatMessage]
    tools: list[ToolInfo]
    model: Model
    config: GenerateConfig
    output: ModelOutput
    turns: int


async def _ask(state: Thoughts) -> Thoughts:
    output = await state["model"].generate(state["messages"], tools=state["tools"], config=state["config"])
    return {"output": output, "turns": state.get("turns", 0) + 1}


async def _count(state: Thoughts) -> Thoughts:
    SEEN.append(state.get("turns", 0))
    return {}


SEEN: list[int] = []
_builder = StateGraph(Thoughts)
_builder.add_node("count", _count)
_builder.add_node("ask", _ask)
_builder.add_edge(START, "count")
_builder.add_edge("count", "ask")
_builder.add_edge("ask", END)
graph = _builder.compile()


async def _again(state: Thoughts) -> Thoughts:
    return {"turns": state.get("turns", 0) + 1}


_long = StateGraph(Thoughts)
_long.add_node("again", _again)
_long.add_node("ask", _ask)
_long.add_edge(START, "again")
_long.add_conditional_edges("again", lambda state: "ask" if state["turns"] % 60 == 0 else "again")
_long.add_edge("ask", END)
long_graph = _long.compile()


async def _mute(state: Thoughts) -> Thoughts:
    return {"turns": 1}


_muted = StateGraph(Thoughts)
_muted.add_node("mute", _mute)
_muted.add_edge(START, "mute")
_muted.add_edge("mute", END)
mute_graph = _muted.compile()


@agent
def thinker() -> Agent:
    async def execute(state: AgentState, tools: list[ToolInfo], model: Model, config: GenerateConfig) -> AgentState:
        state.output = await model.generate(state.messages, tools=tools, config=config)
        state.messages.append(state.output.message)
        return state

    return execute


@agent
def quiet() -> Agent:
    async def execute(state: AgentState, *, tools: object, model: object, config: object) -> AgentState:
        return state

    return execute


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["graph", "long_graph", "thinker"])
def test_a_philosopher_of_ones_own_plays_the_same_game(name: str, tmp_path: Path) -> None:
    """Also a graph of more than LangGraph's 25 steps: there is no hidden step cap."""
    log = run(philosophers(n=3, episodes=1, rounds=5, philosopher=f"{HERE}:{name}"), "dining/wave", tmp_path)
    assert record_of(samples(log)[0]) == play(Rules(n=3, rounds=5), "wave", episode_seed("test", "n03-s0-e000"))


def test_a_graph_keeps_its_own_memory_from_turn_to_turn(tmp_path: Path) -> None:
    SEEN.clear()
    run(philosophers(n=2, episodes=1, rounds=4, philosopher=f"{HERE}:graph"), "dining/think", tmp_path)
    assert sorted(SEEN) == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("name", ["mute_graph", "quiet"])
def test_a_philosopher_without_a_reply_is_an_error_and_no_silence(name: str, tmp_path: Path) -> None:
    log = run(philosophers(n=2, episodes=1, rounds=3, philosopher=f"{HERE}:{name}"), "dining/think", tmp_path)
    assert log.status == "error"
    assert "reply" in (samples(log)[0].error or pytest.fail("no error")).message


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere.at.all:graph", "cannot be imported"),
        (f"{HERE}:nobody", "cannot be imported"),
        (f"{HERE}:HERE", "cannot take a seat"),
        (HERE, "is not accepted: give package.module:name"),
        ("", "is not accepted: give package.module:name"),
    ],
)
def test_who_cannot_sit_down_is_told_so_before_any_call(name: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        load_philosopher(name)


def test_a_lost_turn_is_kept_in_a_conversation_without_an_answer(tmp_path: Path) -> None:
    talker = Talker(lambda view, c: left_first(view, c) if view.round % 2 else calls(text="Let me see."))
    run(philosophers(n=2, episodes=1, rounds=3, patience=9, memory="chat"), talker.model(), tmp_path)
    assert [m.role for m in talker.asked[-1]] == ["system", "user", "assistant", "tool", "user", "assistant", "user"]
