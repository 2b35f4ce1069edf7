"""What a run sent to its models, from its model events: settings, prompts, and the weights that answered.

A log's header gives the plan. What reached a model can differ: a model's own setting overrides the run's, a custom
philosopher adds text, a folder called `best` gets other weights.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from inspect_dining.analysis.inputs.stored import whole_text
from inspect_dining.border import MOST_NAME, WEIGHTS, plain, public

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalSample
    from inspect_ai.model import GenerateConfig

_UNSENT = {
    "max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "max_connections", "adaptive_connections",
    "seed", "logprobs", "top_logprobs", "prompt_logprobs", "cache", "cache_prompt", "batch", "max_tool_output",
    "fail_on_refusal",
}  # fmt: skip
"""Generation settings that affect the delivery of a reply but not its content; a seed is one draw of many."""
_USUAL = {"max_tokens": 2048, "parallel_tool_calls": False}
"""The settings that a dinner sends by default."""
_SEAT = re.compile(r"seat_\d{1,4}")


@dataclass(frozen=True, slots=True)
class Sent:
    """The first request to one seat's model.

    Attributes:
        settings: Generation settings that matter, in printable form.
        words: 8 hex digits that name the system prompt (without numbers, so that tables of all sizes agree) and tools.
        weights: The name of the weights that answered, if known; else empty.
    """

    settings: Mapping[str, str]
    words: str
    weights: str


def told(config: "GenerateConfig") -> dict[str, str]:
    """Generation settings that distinguish players, in printable form."""
    return {
        plain(name): shown(name, value)
        for name, value in config
        if value is not None and name not in _UNSENT and _USUAL.get(name) != value
    }


def shown(name: str, value: object) -> str:
    """A setting in printable form; one too long to print is cut and completed by its hash."""
    text = public(name, value)
    if len(text) < MOST_NAME:
        return text
    return f"{text[: MOST_NAME - 20]}... #{sha256(repr(value).encode(errors='replace')).hexdigest()[:8]}"


def sent_in(sample: "EvalSample") -> dict[str, Sent]:
    """The contents of the first call of every seat of a sample, by role (`seat_0`...); empty without model events."""
    return dict(_first(sample))


def _first(sample: "EvalSample") -> Iterator[tuple[str, Sent]]:
    seen: set[str] = set()
    for event in sample.events:
        if event.event != "model" or event.role is None or not _SEAT.fullmatch(event.role) or event.role in seen:
            continue
        seen.add(event.role)
        metadata = event.output.metadata or {}
        weights = metadata.get(WEIGHTS)
        named = weights if isinstance(weights, str) and re.fullmatch("[0-9a-f]{16}", weights) else ""
        yield event.role, Sent(told(event.config), _words(event, sample.attachments), named)


def _words(event: "ModelEvent", attachments: Mapping[str, str]) -> str:
    system = [whole_text(one.text, attachments) for one in event.input if one.role == "system"]
    tools = sorted(json.dumps([one.name, one.description, one.parameters.model_dump()]) for one in event.tools)
    asked = re.sub(r"\d+", "#", "\n".join(system))
    return sha256(json.dumps([asked, tools, str(event.tool_choice)]).encode(errors="replace")).hexdigest()[:8]
