"""Dinners for tests: the task run in this process, and models whose every reply a test decides."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    StopReason,
    get_model,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from inspect_dining.table import Record, View, parse
from inspect_dining.table.record import RECORD

Reply = Callable[[View, GenerateConfig], ModelOutput]


def calls(*names: str, text: str = "", stop: StopReason = "tool_calls") -> ModelOutput:
    """A reply with these native calls, without arguments."""
    message = ChatMessageAssistant(
        content=text,
        tool_calls=[ToolCall(id=f"call_{i}", function=name, arguments={}) for i, name in enumerate(names)] or None,
        source="generate",
    )
    return counted(ModelOutput.from_message(message, stop_reason=stop))


def says(text: str, stop: StopReason = "stop") -> ModelOutput:
    """A reply of text alone."""
    return counted(ModelOutput.from_content("mockllm/model", text, stop_reason=stop))


def counted(output: ModelOutput) -> ModelOutput:
    """A reply with usage, without which `mockllm` would fetch a tokenizer from the network."""
    output.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)
    return output


class Talker:
    """A `mockllm` whose replies a function of the view decides; it keeps what every call was asked."""

    def __init__(self, reply: Reply, delay: Callable[[View], float] | None = None, together: int = 1) -> None:
        """Answers after `delay` seconds, and not before `together` calls have been open at once."""
        self.reply = reply
        self.delay = delay
        self.asked: list[list[ChatMessage]] = []
        self.tools: list[list[ToolInfo]] = []
        self.configs: list[GenerateConfig] = []
        self.choices: list[ToolChoice] = []
        self.open = 0
        self.most_open = 0
        self.together = together

    async def answer(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Answers one call."""
        view = parse(input[-1].text)
        self.asked.append(input)
        self.tools.append(tools)
        self.choices.append(tool_choice)
        self.configs.append(config)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        await asyncio.sleep(self.delay(view) if self.delay else 0)
        async with asyncio.timeout(60):
            while self.most_open < self.together:
                await asyncio.sleep(0.001)
        self.open -= 1
        return self.reply(view, config)

    def model(self) -> Model:
        """The model, for `eval(model=...)` or a role."""
        return get_model("mockllm/model", custom_outputs=self.answer)

    def views(self) -> list[View]:
        """What every call saw, in order of the calls."""
        return [parse(messages[-1].text) for messages in self.asked]


def left_first(view: View, config: GenerateConfig) -> ModelOutput:
    """Takes left, then right, then eats, whatever it sees."""
    return calls(("pick_up_left", "pick_up_right", "eat")[(view.round - 1) % 3])


def run(task: Task | list[Task], model: str | Model | list[str | Model], log_dir: Path, **more: object) -> EvalLog:
    """Runs one task and gives its log."""
    return run_all(task, model, log_dir, **more)[0]


def run_all(
    task: Task | list[Task], model: str | Model | list[str | Model], log_dir: Path, **more: object
) -> list[EvalLog]:
    """Runs tasks against models and gives their logs."""
    options: Mapping[str, object] = {"display": "none", "log_dir": str(log_dir), **more}
    return eval(task, model=model, **options)  # type: ignore[arg-type]  # options are eval's own, by name


def samples(log: EvalLog) -> list[EvalSample]:
    """The samples of a log that has some."""
    assert log.samples, log.error
    return log.samples


def record_of(sample: EvalSample) -> Record:
    """The record in a sample's store."""
    return Record.from_dict(sample.store[RECORD])


def records_of(log: EvalLog) -> dict[tuple[str | int, int], str]:
    """Every record of a log as JSON, by sample id and epoch."""
    return {(sample.id, sample.epoch): record_of(sample).to_json() for sample in samples(log)}


def score(sample: EvalSample, name: str) -> float:
    """One score of a sample."""
    assert sample.scores is not None
    return sample.scores[name].as_float()
