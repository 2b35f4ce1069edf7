"""Real-world shapes of replies, family by family, each with its right reading (see corpus/README.md)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
import yaml
from inspect_ai.model import (
    ChatCompletionChoice,
    ModelOutput,
    model_output_from_anthropic,
    model_output_from_google,
    model_output_from_openai,
    model_output_from_openai_responses,
)

# hf/ itself needs torch; this is the part of it that makes calls of a model's text
from inspect_ai.model._providers.util.hf_handler import HFHandler
from openai.types.chat import ChatCompletion
from pydantic import TypeAdapter

from inspect_dining.philosophers.graph import tools
from inspect_dining.philosophers.reading import Call, Reply, Stop, read, reply_from_text, reply_of
from inspect_dining.table.moves import Action, Kind, Reading

CORPUS = Path(__file__).parent / "corpus"
FAMILIES = ("qwen", "mistral", "llama", "deepseek", "openai", "anthropic", "gemini")


@dataclass(frozen=True)
class Entry:
    """One entry of the corpus, as its README describes it."""

    id: str
    source: str
    wire: Literal["openai", "responses", "anthropic", "google", "hf", "text", "template"]
    raw: object
    off: str
    on: str | None = None
    stop: Stop = Stop.FINISHED
    model: str = ""
    yields: dict[str, object] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The raw text of an entry that has one."""
        assert isinstance(self.raw, str)
        return self.raw


ENTRIES = {
    path.stem: TypeAdapter(list[Entry]).validate_python(yaml.safe_load(path.read_text("utf-8")))
    for path in sorted(CORPUS.glob("*.yaml"))
}
ALL = [entry for entries in ENTRIES.values() for entry in entries]


def reading(words: str) -> Reading:
    """The reading that an entry names, as in `rescued eat`."""
    kind, _, action = words.partition(" ")
    return Reading(Kind(kind), Action(action) if action else None)


def from_openai(choice: Mapping[str, object]) -> ModelOutput:
    """What Inspect makes of a chat completion; like the client itself, this takes values that the API does not have."""
    message = {"role": "assistant", **TypeAdapter(dict[str, object]).validate_python(choice["message"])}
    completion = ChatCompletion.construct(
        id="c", model="m", object="chat.completion", created=0, choices=[{"index": 0, **choice, "message": message}]
    )
    return asyncio.run(model_output_from_openai(completion))


def by_parser(entry: Entry) -> Reply:
    """The reply in an entry, read off the wire by Inspect's own parser."""
    if entry.wire == "openai":
        output = from_openai(TypeAdapter(dict[str, object]).validate_python(entry.raw))
    elif entry.wire == "responses":
        response = {
            **{"id": "r", "model": "m", "object": "response", "created_at": 0, "parallel_tool_calls": False},
            **{"tool_choice": "auto", "tools": [], "output": entry.raw},
        }
        output = asyncio.run(model_output_from_openai_responses(response))
    elif entry.wire == "hf":
        message = HFHandler(entry.model).parse_assistant_response(entry.text, list(tools()))
        output = ModelOutput(model=entry.model, choices=[ChatCompletionChoice(message=message)])
    elif entry.wire == "anthropic":
        pytest.importorskip("anthropic")
        content = TypeAdapter(dict[str, object]).validate_python(entry.raw)
        usage = {"input_tokens": 1, "output_tokens": 1}
        output = asyncio.run(
            model_output_from_anthropic({
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "usage": usage,
                **content,
            })
        )
    else:
        assert entry.wire == "google"
        pytest.importorskip("google.genai")
        output = asyncio.run(model_output_from_google({"candidates": [entry.raw]}, model="m"))
    return reply_of(output)


def as_yielded(entry: Entry) -> Reply:
    """The reply that an entry says Inspect makes of it."""
    calls = TypeAdapter(list[dict[str, object]]).validate_python(entry.yields["calls"])
    text = str(entry.yields["text"])
    return Reply(
        tuple(Call(str(c["name"]), c.get("arguments"), text if c.get("error") else None) for c in calls),
        text,
        Stop(str(entry.yields["stop"])),
    )


def reply(entry: Entry) -> Reply:
    """The reply in an entry."""
    if entry.wire == "text":
        return Reply((), entry.text, entry.stop)
    if entry.wire == "template":
        return reply_from_text(entry.text, entry.stop)
    return as_yielded(entry) if entry.yields else by_parser(entry)


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.id)
def test_every_entry_has_its_right_reading(entry: Entry) -> None:
    """A family's shape that is read wrongly skews every comparison between families."""
    given = reply(entry)
    assert read(given) == reading(entry.off)
    assert read(given, rescue=True) == reading(entry.on or entry.off)


TEXTS = [entry for entry in ALL if entry.wire == "text" and entry.stop is Stop.FINISHED]


@pytest.mark.parametrize("entry", TEXTS, ids=lambda entry: entry.id)
def test_a_text_reads_alike_whoever_tells_its_reasoning_apart(entry: Entry) -> None:
    """Inspect takes the first <think> block out of a text, and leaves other families' reasoning in."""
    given = reply_of(from_openai({"finish_reason": "stop", "message": {"content": entry.text}}))
    assert read(given) == reading(entry.off)
    assert read(given, rescue=True) == reading(entry.on or entry.off)


@pytest.mark.parametrize("entry", [e for e in ALL if e.yields], ids=lambda entry: entry.id)
def test_what_an_entry_yields_is_what_inspect_makes_of_it(entry: Entry) -> None:
    """A corpus of what Inspect does not do would prove nothing; checked where the provider's client is installed."""
    assert by_parser(entry) == as_yielded(entry)


def test_the_corpus_has_every_family_natively_and_in_text_and_every_kind() -> None:
    """A corpus that lost a family, or never saw a kind of reading, would pass as well."""
    assert len({entry.id for entry in ALL}) == len(ALL)
    for family in FAMILIES:
        wires = {entry.wire for entry in ENTRIES[family]}
        assert "text" in wires
        assert wires & {"openai", "responses", "anthropic", "google"}
        assert any(read(reply(e)).acts for e in ENTRIES[family])
        assert any((e.on or "").startswith("rescued") for e in ENTRIES[family])
    assert {reading(entry.off).kind for entry in ALL} | {Kind.RESCUED} == set(Kind)
    assert not any(reading(entry.on or entry.off).acts for entry in ENTRIES["traps"])
