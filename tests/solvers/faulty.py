"""Philosophers of one's own whose code fails in the ways that asynchronous code fails."""

import asyncio
import sys

import anyio
from inspect_ai.agent import AgentState
from inspect_ai.model import GenerateConfig, Model
from inspect_ai.tool import ToolInfo


async def asked(state: AgentState, tools: list[ToolInfo], model: Model, config: GenerateConfig) -> AgentState:
    """Asks the model."""
    state.output = await model.generate(state.messages, tools=tools, config=config)
    return state


async def leaking(state: AgentState, tools: list[ToolInfo], model: Model, config: GenerateConfig) -> AgentState:
    """Awaits a task that was cancelled, so that the cancellation becomes its own."""
    task = asyncio.ensure_future(asyncio.sleep(60))
    task.cancel()
    await task
    return state


async def cancelling(state: AgentState, tools: list[ToolInfo], model: Model, config: GenerateConfig) -> AgentState:
    """Cancels the very task that it runs in."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return state


async def leaving(state: AgentState, tools: list[ToolInfo], model: Model, config: GenerateConfig) -> AgentState:
    """Ends the program."""
    sys.exit(3)


async def grouped(state: AgentState, tools: list[ToolInfo], model: Model, config: GenerateConfig) -> AgentState:
    """Asks the model in a task of a group, as code that asks several at once does."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(asked(state, tools, model, config))
        group.create_task(asyncio.sleep(60 if state.messages else 0)).cancel()
    return task.result()


async def nested(state: AgentState, tools: list[ToolInfo], model: Model, config: GenerateConfig) -> AgentState:
    """Asks the model in a group within a group."""
    async with anyio.create_task_group() as group:
        group.start_soon(grouped, state, tools, model, config)
    return state
