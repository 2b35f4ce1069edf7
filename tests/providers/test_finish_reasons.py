"""Every finish reason that a provider can give is read on purpose: a failure is never taken for a quiet philosopher."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from inspect_ai import eval
from inspect_ai.log import EvalSample, read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    StopReason,
    get_model,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from pydantic import JsonValue

from inspect_dining.philosophers.stops import INSPECT, WORDS, Stop, finish_word, stop_of
from inspect_dining.solvers.hearing import WITHOUT_REASON
from inspect_dining.table import Rules, parse
from inspect_dining.table.moves import READINGS
from tests.providers.conftest import Serve
from tests.providers.dinners import CHAT, connect, dine, record, samples, task
from tests.providers.wires import NO_WORD, Asked, Call, ChatCompletions, Messages, Responses, Say, Wire

RULES = Rules(2, 3)
ERROR, CUT = "error", "cut"
CHAT_WORDS = {
    "stop": "empty",
    "length": "truncated",
    "content_filter": "refused",
    "sensitive": "refused",
    "repetition": "truncated",
    "model_context_window_exceeded": CUT,
    "error": ERROR,
    "abort": ERROR,
    "insufficient_system_resource": ERROR,
    "something_new": ERROR,
    NO_WORD: ERROR,
}
"""The finish reasons of chat completions, and what becomes of a turn in which nothing else came."""
RESPONSES_WORDS = {
    "max_output_tokens": "truncated",
    "content_filter": "refused",
    "failed": ERROR,
    "cancelled": ERROR,
    "in_progress": ERROR,
}
"""The statuses of OpenAI's responses, and the reasons of incomplete ones."""
MESSAGES_WORDS = {
    "end_turn": "empty",
    "stop_sequence": "empty",
    "max_tokens": "truncated",
    "refusal": "refused",
    "model_context_window_exceeded": CUT,
    "something_new": ERROR,
}
"""The stop reasons of Anthropic's messages."""
SERVED: Sequence[tuple[str, Callable[[], Wire], dict[str, str]]] = [
    (CHAT, ChatCompletions, CHAT_WORDS),
    ("openrouter/mistralai/mistral-small-24b", ChatCompletions, CHAT_WORDS),
    ("vllm/Qwen/Qwen3-14B", ChatCompletions, CHAT_WORDS),
    ("openai/gpt-5.4", Responses, RESPONSES_WORDS),
    ("anthropic/claude-opus-4-7", Messages, MESSAGES_WORDS),
]


def came(of: EvalSample) -> str:
    """What became of seat 0 in round 2."""
    if of.error is not None:
        assert not of.scores
        assert record(of).ended == "cut: error (RuntimeError)"
        return ERROR
    found = record(of)
    if not found.complete:
        return CUT
    return str(READINGS[found.rounds[1][0]].kind)


@pytest.mark.parametrize(("model", "wire", "words"), SERVED, ids=[model for model, _, _ in SERVED])
def test_every_word_on_the_wire_is_read_as_what_it_means(
    serve: Serve, tmp_path: Path, model: str, wire: Callable[[], Wire], words: dict[str, str]
) -> None:
    """A failure told within a 200 was once scored as a game of quiet philosophers, with the full reward."""
    game = -1

    def say(asked: Asked) -> Say:
        nonlocal game
        game += (asked.view.seat, asked.view.round) == (0, 1)
        if (asked.view.seat, asked.view.round) == (0, 2):
            return Say(finish=list(words)[game])
        return Say((Call("think"),))

    log = dine(
        connect(serve(say, wire()), model), RULES, tmp_path, episodes=len(words), max_samples=1, fail_on_error=False
    )
    assert dict(zip(words, map(came, samples(log)), strict=True)) == words


def test_an_error_within_a_reply_is_an_error_whatever_came_with_it(serve: Serve, tmp_path: Path) -> None:
    """The same holds of words of failure: a reply that broke off is nobody's choice, a whole call in it or not."""
    broken = [
        Say(text="I wait", finish="error", error="The upstream provider broke."),
        Say((Call("think"),), error="The upstream provider broke."),
        Say((Call("think"),), finish="abort"),
        Say(text="<think>Hm", finish="error"),
    ]

    def say(asked: Asked) -> Say:
        failing = (asked.view.seat, asked.view.round) == (1, 1)
        return broken.pop() if failing else Say((Call("think"),))

    log = dine(connect(serve(say)), RULES, tmp_path, episodes=4, max_samples=1, fail_on_error=False)
    assert list(map(came, samples(log))) == [ERROR] * 4


def test_what_was_said_under_a_word_that_nobody_knows_is_read(serve: Serve, tmp_path: Path) -> None:
    def say(asked: Asked) -> Say:
        said = Say((Call("think"),)) if asked.view.round == 1 else Say(text="I wait.")
        return Say(said.calls, said.text, finish="something_new")

    found = record(samples(dine(connect(serve(say)), RULES, tmp_path))[0])
    assert [[str(READINGS[code].kind) for code in codes] for codes in found.rounds] == [
        ["action"] * 2,
        ["no_call"] * 2,
        ["no_call"] * 2,
    ]


def _google(word: str) -> dict[str, JsonValue]:
    return {"candidates": [{"index": 0, "finish_reason": word, "content": None}]}


def _choices(word: str) -> dict[str, JsonValue]:
    return {"choices": [{"index": 0, "finish_reason": word}]}


HANDED_ON: list[tuple[str, StopReason, dict[str, JsonValue] | None, str]] = [
    *(("google", "content_filter", _google(word), "refused") for word in ("SAFETY", "RECITATION", "BLOCKLIST", "SPII")),
    ("google", "stop", _google("STOP"), "empty"),
    ("google", "max_tokens", _google("MAX_TOKENS"), "truncated"),
    ("google", "unknown", _google("LANGUAGE"), "refused"),
    ("google", "unknown", _google("MALFORMED_FUNCTION_CALL"), "malformed"),
    ("google", "unknown", _google("UNEXPECTED_TOOL_CALL"), "malformed"),
    ("google", "unknown", _google("OTHER"), ERROR),
    ("google", "unknown", _google("FINISH_REASON_UNSPECIFIED"), ERROR),
    ("mistral", "unknown", _choices("error"), ERROR),
    ("mistral", "model_length", _choices("model_length"), CUT),
    ("grok", "unknown", {"outputs": [{"finishReason": "REASON_TIME_LIMIT"}]}, ERROR),
    ("grok", "model_length", {"outputs": [{"finishReason": "REASON_MAX_CONTEXT"}]}, CUT),
    ("grok", "unknown", {"outputs": [{}]}, ERROR),
    ("bedrock", "unknown", {"stopReason": "guardrail_intervened"}, "refused"),
    ("none that is known", "unknown", None, ERROR),
]
"""What provider classes whose SDKs are not installed here hand on: their name, Inspect's reason, the raw reply."""


class Handed(ModelAPI):
    """Hands on, in round 2 of seat 0, what a provider class hands on where nothing came: a row of the table a game."""

    game = -1

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput | tuple[ModelOutput | Exception, ModelCall]:
        view = parse(input[-1].text)
        self.game += (view.seat, view.round) == (0, 1)
        if (view.seat, view.round) != (0, 2):
            return ModelOutput.for_tool_call("m", "think", {}, content="")
        _, reason, raw, _ = HANDED_ON[self.game]
        message = ChatMessageAssistant(content="", source="generate")
        output = ModelOutput(model="m", choices=[ChatCompletionChoice(message=message, stop_reason=reason)])
        return output if raw is None else (output, ModelCall.create({}, raw))


@modelapi(name="handed")
def handed() -> type[ModelAPI]:
    return Handed


def _handed_on(folder: Path, episodes: int) -> list[str]:
    log = eval(
        task(RULES, episodes),
        model=get_model("handed/m", memoize=False),
        log_dir=str(folder),
        display="none",
        log_realtime=False,
        fail_on_error=False,
        max_samples=1,
    )[0]
    return list(map(came, samples(read_eval_log(log.location))))


def test_what_the_other_provider_classes_hand_on_is_read_as_what_it_means(tmp_path: Path) -> None:
    assert _handed_on(tmp_path, len(HANDED_ON)) == [expected for *_, expected in HANDED_ON]


def test_a_provider_class_that_never_gives_a_reason_may_be_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of `hf/` every reply has the reason `unknown`."""
    assert "hf" in WITHOUT_REASON
    monkeypatch.setattr("inspect_dining.solvers.hearing.WITHOUT_REASON", frozenset({"handed"}))
    monkeypatch.setattr("tests.providers.test_finish_reasons.HANDED_ON", HANDED_ON[-1:])
    assert _handed_on(tmp_path, 1) == ["empty"]


def test_the_tables_agree_with_inspect_where_both_know_a_word() -> None:
    """Inspect's own word counts where it says that something was cut, filtered or full."""
    for reason, stop in INSPECT.items():
        assert stop_of(reason) is stop
        assert WORDS[reason] is stop
        for word in WORDS:
            assert stop_of(reason, word) is (WORDS[word] if stop is Stop.FINISHED else stop)
    assert stop_of("unknown") is stop_of("unknown", "something new") is Stop.UNKNOWN
    assert stop_of("stop", "something new") is Stop.FINISHED


BODIES: list[JsonValue] = [None, [], "stop", 3, {}, {"choices": None}, {"choices": [None]}, {"choices": "stop"}]
BODIES += [{"candidates": {}}, {"error": None}, {"incomplete_details": 3}, {"status": "failed"}]


@pytest.mark.parametrize("body", BODIES, ids=repr)
def test_a_raw_reply_of_any_shape_has_a_word_or_none(body: JsonValue) -> None:
    assert finish_word(body) is None
