"""Every finish reason that a provider can give is read on purpose: a failure is never taken for a quiet philosopher."""

import ast
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args

import httpx
import inspect_ai
import pytest
from anthropic.types import StopReason as AnthropicReason
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
from openai.types.chat.chat_completion import Choice
from openai.types.responses import ResponseStatus
from openai.types.responses.response import IncompleteDetails
from pydantic import JsonValue

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.stops import INSPECT, NO_REASON, WORDS, Stop, finish_word, stop_of
from inspect_dining.solvers.hearing import WITHOUT_REASON
from inspect_dining.table import Rules, parse
from inspect_dining.table.moves import READINGS, Kind
from inspect_dining.training.play.vllm_client import _replies
from tests.providers.conftest import Serve
from tests.providers.dinners import CHAT, connect, dine, record, samples, task
from tests.providers.wires import NO_WORD, Asked, Call, ChatCompletions, Messages, Responses, Say, Wire

DOCS = Path(__file__).parents[2] / "docs"
RULES = Rules(2, 3)
ERROR, CUT = "error", "cut"
TURNS = {"error": ERROR, "game cut": CUT}
OTHER, NO_CANDIDATE = "something_new", "no candidate"


def _table() -> dict[str, dict[str, str]]:
    """The table of docs/models.md: by provider, what becomes of a turn under each finish reason."""
    section = (DOCS / "models.md").read_text(encoding="utf-8").partition("## Finish reasons\n")[2].partition("\n## ")[0]
    found: dict[str, dict[str, str]] = {}
    latest: list[str] = []
    for row in re.findall(r"^\|(.*)\|(.*)\|(.*)\|$", section, re.MULTILINE)[2:]:
        providers, words, turn = map(str.strip, row)
        latest = re.findall(r"`([a-z-]+)/`", providers) or latest
        for name in latest:
            listed = found.setdefault(name, {})
            for word in words.split(", "):
                listed[{"any other word": OTHER}.get(word, word.strip("`"))] = TURNS.get(turn, turn)
    return found


TABLE = _table()
SERVED: Sequence[tuple[str, Callable[[], Wire]]] = [
    (CHAT, ChatCompletions),
    ("openrouter/mistralai/mistral-small-24b", ChatCompletions),
    ("vllm/Qwen/Qwen3-14B", ChatCompletions),
    ("openai/gpt-5.4", Responses),
    ("anthropic/claude-opus-4-7", Messages),
]
SLOW = {"openrouter/mistralai/mistral-small-24b", "vllm/Qwen/Qwen3-14B"}
"""Their classes are built on that of `openai-api/`."""


def test_the_table_names_every_word_of_the_vendors_own_types() -> None:
    """The types of Google, Mistral and xAI are not installed here; the page names the versions that were read."""
    assert set(TABLE) == {"openai-api", "openrouter", "vllm", "openai", "anthropic", "google", "mistral", "grok", "hf"}
    chat, reasons = Choice.model_fields["finish_reason"], IncompleteDetails.model_fields["reason"]
    assert set(get_args(chat.annotation)) <= set(TABLE["openai-api"])
    incomplete = {word for part in get_args(reasons.annotation) for word in get_args(part)}
    assert incomplete | set(get_args(ResponseStatus)) - {"incomplete"} == set(TABLE["openai"])
    assert set(get_args(AnthropicReason)) - {"pause_turn"} == set(TABLE["anthropic"]) - {OTHER, NO_WORD}


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


@pytest.mark.parametrize(
    ("model", "wire"),
    [pytest.param(*one, id=one[0], marks=[pytest.mark.slow] if one[0] in SLOW else []) for one in SERVED],
)
def test_every_word_on_the_wire_is_read_as_what_it_means(
    serve: Serve, tmp_path: Path, model: str, wire: Callable[[], Wire]
) -> None:
    """A failure told within a 200 was once scored as a game of quiet philosophers, with the full reward."""
    game, words = -1, TABLE[model.partition("/")[0]]

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


def test_a_paused_turn_is_asked_again(serve: Serve, tmp_path: Path) -> None:
    pauses = [Say(text="Hm.", finish="pause_turn")]

    def say(asked: Asked) -> Say:
        return pauses.pop() if pauses else Say((Call("think"),))

    log = dine(connect(serve(say, Messages()), "anthropic/claude-opus-4-7"), RULES, tmp_path)
    found = record(samples(log)[0])
    assert {READINGS[code].kind for codes in found.rounds for code in codes} == {Kind.ACTION}
    assert not pauses


def _reason(provider: str, word: str) -> StopReason:
    """Inspect's reason for a word of a provider whose SDK is not installed: its own function, from its source."""
    source = (Path(inspect_ai.__file__).parent / f"model/_providers/{provider}.py").read_text(encoding="utf-8")
    named = ("finish_reason_to_stop_reason", "choice_stop_reason", "_stop_reason_from_finish_reason")
    (function,) = (one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef) and one.name in named)
    function.returns, function.args.args[0].annotation = None, None
    words: Any = SimpleNamespace(**{name: name for name in TABLE["google"]})
    space: dict[str, Any] = {"FinishReason": words}
    exec(compile(ast.Module([function], []), provider, "exec"), space)
    given: Any = SimpleNamespace(finish_reason=word) if provider == "mistral" else word
    return cast(StopReason, space[function.name](given))


def _handed(provider: str, word: str) -> tuple[StopReason, dict[str, JsonValue]]:
    """Inspect's reason and the raw reply as the provider's class logs it."""
    given = None if word == NO_WORD else word
    if provider == "google":
        if word == NO_CANDIDATE:
            return "stop", {"candidates": None, "prompt_feedback": None}
        raw: dict[str, JsonValue] = {"candidates": [{"index": 0, "finish_reason": given, "content": None}]}
        return _reason(provider, given or "STOP"), raw  # as completion_choice_from_candidate does
    if provider == "mistral":
        return "unknown" if given is None else _reason(provider, given), {
            "choices": [{"index": 0, "finish_reason": given}]
        }
    unset = given in (None, "REASON_INVALID")  # protobuf's default, which is left out in JSON
    return _reason(provider, word), {"outputs": [{} if unset else {"finishReason": given}]}


HANDED_ON: list[tuple[str, StopReason, dict[str, JsonValue] | None, str]] = [
    *(
        (f"{provider} {word}", *_handed(provider, word), turn)
        for provider in ("google", "mistral", "grok")
        for word, turn in TABLE[provider].items()
    ),
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


def _handed_on(folder: Path) -> list[str]:
    log = eval(
        task(RULES, len(HANDED_ON)),
        model=get_model("handed/m", memoize=False),
        log_dir=str(folder),
        display="none",
        log_realtime=False,
        fail_on_error=False,
        max_samples=1,
    )[0]
    return list(map(came, samples(read_eval_log(log.location))))


ONE_EACH = list({(name.split()[0], turn): (name, *rest, turn) for name, *rest, turn in HANDED_ON}.values())
"""Of each provider one word for each thing that a turn can come to: the last in the table."""


@pytest.mark.parametrize("rows", [ONE_EACH, pytest.param(HANDED_ON, marks=pytest.mark.slow)], ids=["one each", "all"])
def test_what_the_other_provider_classes_hand_on_is_read_as_what_it_means(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[tuple[str, StopReason, dict[str, JsonValue] | None, str]],
) -> None:
    monkeypatch.setattr("tests.providers.test_finish_reasons.HANDED_ON", rows)
    came_to = dict(zip([name for name, *_ in rows], _handed_on(tmp_path), strict=True))
    assert came_to == {name: expected for name, *_, expected in rows}


def test_a_provider_class_that_never_gives_a_reason_may_be_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of `hf/` every reply has the reason `unknown`."""
    assert "hf" in WITHOUT_REASON
    monkeypatch.setattr("inspect_dining.solvers.hearing.WITHOUT_REASON", frozenset({"handed"}))
    monkeypatch.setattr("tests.providers.test_finish_reasons.HANDED_ON", HANDED_ON[-1:])
    assert _handed_on(tmp_path) == list(TABLE["hf"].values()) == ["empty"]


@pytest.mark.parametrize("provider", list(TABLE))
def test_training_learns_from_a_reply_only_where_its_model_ended_it_or_the_limit_did(provider: str) -> None:
    """What `vllm/` can hand on, and every other word too: a gateway may stand before a server."""
    for word, turn in TABLE[provider].items():
        if provider == "hf":  # local weights: no reply has a word
            continue
        sent = {"token_ids": [7], "prompt_token_ids": [1, 2], "logprobs": {"token_logprobs": [-0.5]}}
        choice = {"index": 0, "text": "x", "finish_reason": None if word == NO_WORD else word, **sent}
        response = httpx.Response(200, json={"choices": [choice]}, request=httpx.Request("POST", "http://loop"))
        if turn in ("empty", "truncated"):
            (reply,) = _replies(response, (1, 2), 1, [7])
            assert reply.ids == (7,)
        else:
            with pytest.raises(BadInput, match="nothing can be learned from it"):
                _replies(response, (1, 2), 1, [7])


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
BODIES += [{"choices": [{}]}, {"error": None}, {"incomplete_details": 3}, {"status": "failed"}]


@pytest.mark.parametrize("body", BODIES, ids=repr)
def test_a_raw_reply_of_any_shape_has_a_word_or_none(body: JsonValue) -> None:
    assert finish_word(body) is None


@pytest.mark.parametrize(
    "body", [{"candidates": {}}, {"candidates": None}, {"choices": [{"finish_reason": None}]}], ids=repr
)
def test_a_word_that_should_be_there_and_is_not_says_so(body: JsonValue) -> None:
    """Inspect takes a candidate without a reason, and no candidate at all, for an ordinary end."""
    assert finish_word(body) == NO_REASON
