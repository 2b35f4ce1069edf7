"""The reading of a reply: total, and nothing guessed. `test_corpus.py` has the shapes of real families."""

import json
from time import process_time
from typing import get_args

import pytest
from inspect_ai._util.constants import NO_CONTENT
from inspect_ai.model import ContentReasoning, ContentText, ModelOutput, StopReason
from inspect_ai.model._call_tools import parse_tool_call
from inspect_ai.model._providers._gemini_function_calling import malformed_function_apology

from inspect_dining.philosophers.calls import Call, canonical
from inspect_dining.philosophers.reading import Reply, Stop, read, reply_from_text, reply_of
from inspect_dining.table.moves import ACTS, Action, Kind, Reading
from tests.philosophers.replies import HERMES, called, in_text, of, output, unparsed

EAT = ACTS[Action.EAT]


# The kinds of fault in public reports that a reading can commit


def test_a_call_planned_in_reasoning_and_never_made_is_no_action() -> None:
    """Report 5, QwenLM/Qwen3#1817: the model plans the call in its thinking and never emits it."""
    plan = ContentReasoning(reasoning=f"I will pick up left, so {HERMES}")
    for rescue in (False, True):
        assert read(reply_of(output([plan])), rescue) == Reading(Kind.EMPTY)
        assert read(reply_of(output([plan, ContentText(text="I will pick_up_left.")])), rescue) == Reading(Kind.NO_CALL)


def test_a_reply_of_reasoning_alone_is_empty_and_not_final() -> None:
    """Report 6, agentscope#1596 and #2120: a thinking-only reply was taken for the end of the loop."""
    for content in ("", " \n", "<think>\nHm.\n</think>", "<think>\n\n</think>\n\n"):
        assert read(reply_of(output(content))) == Reading(Kind.EMPTY)


def test_an_empty_reply_that_stopped_is_told_from_one_that_was_cut() -> None:
    """Report 7, QwenLM/Qwen3.8#216: content "", stop_reason "stop", the end token inside <think>."""
    assert read(reply_of(output("", stop="stop"))) == Reading(Kind.EMPTY)
    assert read(reply_of(output("<think>\nHm", stop="stop"))) == Reading(Kind.EMPTY)
    assert read(reply_of(output("", stop="max_tokens"))) == Reading(Kind.TRUNCATED)


def test_of_several_calls_the_first_acts_and_only_once() -> None:
    """Report 8, vllm#9451: several calls though one was asked; two state changes in one turn."""
    calls = [called("pick_up_left"), called("pick_up_right")]
    assert read(reply_of(output(calls=calls, stop="tool_calls"))) == Reading(Kind.SEVERAL, Action.PICK_UP_LEFT)


@pytest.mark.parametrize(
    "first", [Call("eat", {"a": 1}), Call("eat", error="no JSON"), Call("wait", {}), Call("", {}), Call(" ")]
)
def test_a_later_call_never_steps_in_for_a_first_one_that_cannot_be_read(first: Call) -> None:
    """Report 8: acting on the second call because the first failed is a guess at what was meant."""
    alone = read(of(first))
    assert not alone.acts
    assert read(of(first, Call("eat", {}))) == alone


@pytest.mark.parametrize("arguments", ["{side: left}", '{"side": "left"', "{]", "{'a': 1}", "{}{}", "{" * 50])
def test_broken_arguments_never_run_as_none(arguments: str) -> None:
    """Report 9, NousResearch/hermes-agent#1796: bad JSON swallowed, and the tool run with `{}`."""
    call = parse_tool_call("c", "pick_up_left", arguments)
    assert call.arguments == {}
    assert read(reply_of(output(calls=[call]))) == Reading(Kind.MALFORMED)


@pytest.mark.parametrize(
    "name", ["pick-up-left", "pick.up.left", "Pick Up Left", "PICK_UP_LEFT", "pickUpLeft", " pick_up_left\n"]
)
def test_spelling_of_a_name_does_not_matter(name: str) -> None:
    """Report 10, strands harness-sdk#178, iMCP#71: hyphens, dots and case in tool names."""
    assert canonical(name) is Action.PICK_UP_LEFT
    assert read(of(Call(name, {}))) == ACTS[Action.PICK_UP_LEFT]


@pytest.mark.parametrize(
    "name",
    [
        "pick_up",
        "left",
        "pick_up_left_fork",
        "functions.eat",
        "eat()",
        "eat, think",
        "e\u0430t",
        "thin\u212a",
        "\uff45\uff41\uff54",
        "\ud800",
        "eat\x00",
    ],
)
def test_a_name_of_no_such_tool_is_unknown(name: str) -> None:
    """Report 10: a fuzzy match turns a tool that does not exist, or a lookalike, into an action."""
    assert canonical(name) is None
    assert read(of(Call(name, {}))) == Reading(Kind.UNKNOWN)


def test_an_output_without_choices_is_no_reply() -> None:
    """Report 11, inspect_ai#825: a server that fails on every call must not look like silent seats."""
    with pytest.raises(ValueError, match="no choices"):
        reply_of(ModelOutput(model="m", choices=[]))


@pytest.mark.parametrize("garbage", ["", "{", "\ud800", "[" * 100_000, '{"a":' * 100_000, "NaN", "\x00" * 10])
def test_garbage_is_a_lost_turn_and_no_crash(garbage: str) -> None:
    """Report 44, verl#6779: malformed JSON in a rollout crashed training."""
    assert not read(of(Call(garbage, garbage, garbage))).acts
    assert not read(reply_from_text(f"<tool_call>{garbage}</tool_call>", Stop.FINISHED), rescue=True).acts
    assert not in_text(garbage).acts


def test_endless_thinking_is_truncated() -> None:
    """Report 46, Qwen3#1887: greedy thinking until max_tokens in each round looked like silence."""
    for content in ("<think>\nWait, but", "", "Let me think about my left for", f"{HERMES} and"):
        for rescue in (False, True):
            assert read(reply_of(output(content, stop="max_tokens")), rescue) == Reading(Kind.TRUNCATED)


# The rules, in their order


def test_a_refusal_trumps_all() -> None:
    """A call that came before the provider pulled the reply back would act."""
    assert read(of(Call("eat", {}), text=HERMES, stop=Stop.REFUSED), rescue=True) == Reading(Kind.REFUSED)


@pytest.mark.parametrize("arguments", [None, {}, "", " ", "{}", " { } ", "null", "\nnull ", '""'])
def test_arguments_that_say_nothing_are_none(arguments: object) -> None:
    """Providers write "no arguments" in many ways; a family whose way is refused never eats."""
    assert read(of(Call("eat", arguments))) == EAT


@pytest.mark.parametrize(
    "arguments",
    [
        {"fork": "right"},
        {"": None},
        {1: 2},
        [],
        [{}],
        0,
        False,
        float("nan"),
        float("inf"),
        "left",
        "[]",
        "{",
        "}{",
        "{}{}",
        "nullnull",
    ],
)
def test_any_other_argument_makes_a_call_malformed(arguments: object) -> None:
    """An argument can contradict the name: pick_up_left(fork="right") is neither the one nor the other."""
    assert read(of(Call("pick_up_left", arguments))) == Reading(Kind.MALFORMED)


def test_a_whole_call_counts_in_a_reply_that_was_cut() -> None:
    """The cut came after the decision; and a call that it tore is told from one that the model broke."""
    torn = Call("eat", error="Expecting value")
    assert read(of(Call("eat", {}), stop=Stop.LENGTH)) == EAT
    assert read(of(Call("eat", {"a": 1}), stop=Stop.LENGTH)) == Reading(Kind.MALFORMED)
    assert read(of(torn, stop=Stop.LENGTH)) == Reading(Kind.TRUNCATED)
    assert read(of(torn, torn, stop=Stop.LENGTH)) == Reading(Kind.MALFORMED)
    assert read(of(Call("eat", {}), torn, stop=Stop.LENGTH)) == Reading(Kind.SEVERAL, Action.EAT)
    assert read(of(torn)) == Reading(Kind.MALFORMED)


def test_words_beside_a_call_do_not_matter() -> None:
    """The call is the decision; second-guessing it by the words would be a guess."""
    assert read(of(Call("eat", {}), text="I do nothing this round."), rescue=True) == EAT


def test_a_native_call_rules_out_a_rescue() -> None:
    """A call in the text never stands in for a native one that cannot be read."""
    for call, kind in ((Call("eat", {"a": 1}), Kind.MALFORMED), (Call("wait"), Kind.UNKNOWN)):
        assert read(of(call, text=HERMES), rescue=True) == Reading(kind)


# What hf/ makes of empty arguments


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('{"name": "eat", "arguments": {}}', EAT),
        ('\n {"name": "Eat", "parameters": null}\n', EAT),
        ('{"name": "eat"}', EAT),
        ('{"name": "eat", "arguments": {"a": 1}}', Reading(Kind.MALFORMED)),
        ('{"name": "eat", "arguments": {}, "parameters": {}}', Reading(Kind.MALFORMED)),
        ('{"name": "eat", "arguments": {}, "then": "think"}', Reading(Kind.MALFORMED)),
        ('{"name": "eat", "name": "think", "arguments": {}}', Reading(Kind.MALFORMED)),
        ('{"name": "eat", "arguments": {}} {"name": "think", "arguments": {}}', Reading(Kind.MALFORMED)),
        ('I do not {"name": "eat", "arguments": {}}', Reading(Kind.MALFORMED)),
        ('{"name": ["eat"], "arguments": {}}', Reading(Kind.MALFORMED)),
        ('{"name": "", "arguments": {}}', Reading(Kind.MALFORMED)),
        ('{"arguments": {}}', Reading(Kind.MALFORMED)),
        ('[{"name": "eat", "arguments": {}}]', Reading(Kind.MALFORMED)),
        ('{"name": "wait", "arguments": {}}', Reading(Kind.UNKNOWN)),
        ('{"name": "eat", "arguments": {}}\n\nError details: x', Reading(Kind.MALFORMED)),
        ("", Reading(Kind.MALFORMED)),
    ],
)
def test_a_call_that_inspect_could_not_parse_is_read_from_its_own_words(raw: str, expected: Reading) -> None:
    """`hf/` takes `{}` for missing arguments: without this, every call of a local model would be malformed."""
    assert read(of(unparsed(raw))) == expected


def test_only_inspects_own_error_is_read() -> None:
    """The raw text of a call that has a name, or of another error, is not looked into for a second opinion."""
    error = unparsed('{"name": "eat", "arguments": {}}').error
    assert error is not None
    assert read(of(Call("think", {}, error))) == Reading(Kind.MALFORMED)
    assert read(of(Call("unknown", {"a": 1}, error))) == Reading(Kind.MALFORMED)
    assert read(of(Call("unknown", {}, error[1:]))) == Reading(Kind.MALFORMED)
    assert read(of(Call("unknown", {}))) == Reading(Kind.UNKNOWN)


# What Inspect returns


@pytest.mark.parametrize("stop", get_args(StopReason))
def test_every_stop_reason_of_inspect_is_known(stop: StopReason) -> None:
    """A new stop reason must be thought about, not slip into `unknown`."""
    expected = {
        "stop": Stop.FINISHED,
        "tool_calls": Stop.FINISHED,
        "max_tokens": Stop.LENGTH,
        "model_length": Stop.OVERFLOW,
        "content_filter": Stop.REFUSED,
        "unknown": Stop.UNKNOWN,
    }
    assert reply_of(output("x", stop=stop)).stop is expected[stop]


def test_what_providers_put_in_a_models_mouth_is_taken_out() -> None:
    """Inspect's own words for nothing and for Gemini's malformed call would count as the model's text."""
    assert read(reply_of(output(NO_CONTENT))) == Reading(Kind.EMPTY)
    sorry = ContentText(text=malformed_function_apology("Malformed function call: print(default_api.eat())"))
    assert read(reply_of(output([sorry], stop="unknown")), rescue=True) == Reading(Kind.MALFORMED)
    assert read(reply_of(output([sorry], stop="stop"))) == Reading(Kind.NO_CALL)


# Completions of Qwen's template


def test_a_completion_keeps_its_calls_in_order_and_its_words() -> None:
    """Text around and between calls is text, whatever vLLM drops of it."""
    text = f"<think>\nHm {HERMES}\n</think>\n\nOne. {HERMES} two.{HERMES.replace('eat', 'think')} Three.<|im_end|>"
    reply = reply_from_text(text, Stop.FINISHED)
    assert reply == Reply((Call("eat", {}), Call("think", {})), "One.  two. Three.", Stop.FINISHED)


def test_a_completion_without_calls_is_its_words() -> None:
    """The words go into talk and logs; reasoning does not."""
    assert reply_from_text("<think>a</think> I wait. <|im_end|>", Stop.LENGTH) == Reply((), "I wait.", Stop.LENGTH)


@pytest.mark.parametrize("entry", ["[]", '"left"', "7", '{"fork": "right"}', "{}", "null", '"{}"', "{"])
@pytest.mark.parametrize("name", ["eat", "wait", "unknown", ""])
def test_a_completion_reads_alike_through_inspects_own_types(name: str, entry: str) -> None:
    """A checkpoint's calls pass through a ToolCall, which holds a name and an object: what it drops is an error."""
    reply = reply_from_text(f'<tool_call>{{"name": "{name}", "arguments": {entry}}}</tool_call>', Stop.FINISHED)
    (call,) = reply.calls
    assert isinstance(call.arguments, dict)
    assert read(reply_of(output(calls=[called(call.name or "unknown", call.arguments, call.error)]))) == read(reply)


def test_a_broken_call_says_what_was_broken() -> None:
    """A philosopher's log that hides the broken JSON cannot be mended."""
    (call,) = reply_from_text("<tool_call>{eat}</tool_call>", Stop.FINISHED).calls
    assert call.error is not None
    assert "{eat}" in call.error


# Size

MILLION = 1_000_000
HUGE = [
    *(
        "<think ",
        "<think>",
        "</think>",
        "<tool_call>",
        "<tool_call>{",
        "<function=",
        "{",
        "[",
        '{"a":',
        "<",
        "<|",
        "</s>",
    ),
    *(
        " ",
        "\n",
        "a",
        "not ",
        "n't",
        "pick up ",
        "`",
        '"',
        "_",
        "\ud800",
        "\u202e",
        "<|channel|>",
        "<|channel|>analysis",
    ),
    *("[TOOL_CALLS]", "```", "<\uff5c", "call:", "eat(", "<invoke name=", "\\", "<tool_call></tool_call>"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("piece", HUGE)
def test_a_megabyte_is_read_in_less_than_a_second(piece: str) -> None:
    """A pattern that backtracks lets one runaway reply halt the whole table."""
    text = piece * (MILLION // len(piece))
    replies = [
        of(text=text),
        of(text="I eat.\n" + HERMES + text),
        of(text=text + HERMES),
        of(Call(text, text)),
        of(unparsed(text)),
        of(unparsed(json.dumps(text))),
    ]
    for reply in replies:
        started = process_time()
        read(reply, rescue=True)
        assert process_time() - started < 1
    started = process_time()
    assert not read(reply_from_text(text, Stop.FINISHED), rescue=True).acts
    assert process_time() - started < 2
