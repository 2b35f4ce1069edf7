"""What a run sent to its models, by its model events: the settings of a call, what was asked, which weights answered.

A log's header says what was planned. What reached a model can be another thing: a setting of the model's own outranks
one of the run, a philosopher of somebody's own adds words, a folder called `best` gets other weights.
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
"""Generation settings that change how a reply comes and not what it says; a seed names one draw of many."""
_USUAL = {"max_tokens": 2048, "parallel_tool_calls": False}
"""What a dinner sends unless something else was asked for."""
_SEAT = re.compile(r"seat_\d{1,4}")


@dataclass(frozen=True, slots=True)
class Sent:
    """What one seat's model was sent first.

    Attributes:
        settings: Generation settings that say something, as they may be printed.
        words: 8 hex digits that name the system prompt (without numbers, so that tables of all sizes agree) and tools.
        weights: Names the weights that answered, where they are known; else empty.
    """

    settings: Mapping[str, str]
    words: str
    weights: str


def told(config: "GenerateConfig") -> dict[str, str]:
    """Generation settings that tell players apart, as they may be printed."""
    return {
        plain(name): shown(name, value)
        for name, value in config
        if value is not None and name not in _UNSENT and _USUAL.get(name) != value
    }


def shown(name: str, value: object) -> str:
    """A setting as it may be printed; of one too long to be printed whole, its hash tells the rest."""
    text = public(name, value)
    if len(text) < MOST_NAME:
        return text
    return f"{text[: MOST_NAME - 20]}... #{sha256(repr(value).encode(errors='replace')).hexdigest()[:8]}"


def sent_in(sample: "EvalSample") -> dict[str, Sent]:
    """What the first call of every seat of a sample sent, by role (`seat_0`...); empty without model events."""
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
