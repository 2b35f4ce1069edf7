"""Calls in the text: rescued only where they are unambiguous."""

import pytest

from inspect_dining.philosophers.reading import Stop, read, reply_from_text
from inspect_dining.philosophers.rescue import rescued
from inspect_dining.table.moves import Action, Kind, Reading
from tests.philosophers.replies import CALLS, HERMES, in_text, of


@pytest.mark.parametrize("call", CALLS)
def test_a_call_alone_is_rescued_and_only_when_asked(call: str) -> None:
    """With rescue off, text never acts; with it on, a family whose syntax is not known is at a loss."""
    assert in_text(f" {call}\n") == Reading(Kind.RESCUED, Action.EAT)
    assert read(of(text=call)) == Reading(Kind.NO_CALL)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "frame",
    [
        "I will not {}",
        "Never do this: {}",
        "I don't do this:\n{}",
        "For example:\n{}",
        "If I could:\n{}",
        "The syntax is:\n{}",
        "Last round I did this:\n{}",
        "Next round I will do this:\n{}",
        "The others do this:\n{}",
        "Yo no hago esto:\n{}",
        "Ik doe dit niet:\n{}",
        "My neighbour answers {}",
        'She said: "{}"',
        "`{}`",
        "'{}'",
        "({})",
        "> {}",
        "# {}",
        "{} is what I would do.",
        "{}\nThat was wrong.",
        "{}\n{}",
        "{} {}",
        "```\n{}\n{}\n```",
        "I think: \u201e{}\u201c",
        "<example>{}</example>",
        "<!-- {} -->",
        "1. {}\n2. {}",
    ],
)
def test_a_call_that_is_negated_quoted_doubled_or_followed_is_not_rescued(call: str, frame: str) -> None:
    """A mention of a call is not the call."""
    assert in_text(frame.replace("{}", call)) == Reading(Kind.NO_CALL)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<think>", "</think>"),
        ("<think>", ""),
        ("", "</think>"),
        ("<think>a</think>", "</think>"),
        ("<THINKING>", "</THINKING>"),
        ('<think signature="x">', "</think>"),
        ("<reasoning>", "</reasoning>"),
        ("<seed:think>", "</seed:think>"),
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("<|begin_of_thought|>", "<|end_of_thought|>"),
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        ("<|channel>thought\n", "<channel|>"),
    ],
)
def test_a_call_in_reasoning_is_never_rescued(call: str, before: str, after: str) -> None:
    """Reasoning is never an action, also unclosed, also with only its end, in any family's markers."""
    assert in_text(f"{before}{call}{after}") == Reading(Kind.EMPTY)
    assert in_text(f"{before}{call}{after}Well.") == Reading(Kind.NO_CALL if after else Kind.EMPTY)


@pytest.mark.parametrize("call", CALLS)
def test_reasoning_after_a_call_may_take_it_back(call: str) -> None:
    """A model that goes on thinking has not made up its mind."""
    for after in ("<think>Or should I", "<think>Hm.</think>", "[THINK]No.[/THINK]<|im_end|>", "<|channel|>analysis x"):
        assert in_text(call + after) == Reading(Kind.NO_CALL)


def test_reasoning_before_a_call_does_not_spoil_it() -> None:
    """A family that thinks in its text would never be rescued."""
    for before in ("<think>No, not [eat()].</think>", "No.</think>\n", "[THINK]If so?[/THINK]", "<think>\n\n</think>"):
        assert in_text(before + HERMES) == Reading(Kind.RESCUED, Action.EAT)


def test_a_lead_in_is_plain_sentences() -> None:
    """Models announce a call; only words that leave it standing may stand before it."""
    call = "\n" + HERMES
    for lead_in in (
        "I eat now.",
        "Both forks are mine!\nI\u2019ll eat:",
        "I eat 🍴",
        "Left and right are mine (2 forks).",
    ):
        assert in_text(lead_in + call) == Reading(Kind.RESCUED, Action.EAT)
    for lead_in in (
        "I pick_up_left.",
        "[1] I eat.",
        "<b>Now</b>",
        "Ich esse \u2013 später.",
        "Say `x`.",
        "x" * 5000 + ".",
    ):
        assert in_text(lead_in + call) == Reading(Kind.NO_CALL)
    assert in_text("I eat now " + HERMES) == Reading(Kind.NO_CALL)
    assert in_text('I eat now.\n{"name": "eat", "arguments": {}}') == Reading(Kind.NO_CALL)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_of_no_such_tool_or_with_an_argument_is_not_rescued(call: str) -> None:
    """A text that names no tool of ours, or says more than its name, has no unambiguous call."""
    assert in_text(call.replace("eat", "wait")) == Reading(Kind.NO_CALL)
    for empty, argument in (("{}", '{"a": 1}'), ("()", "(1)"), ("></invoke>", "><parameter>1</parameter></invoke>")):
        if empty in call:
            assert in_text(call.replace(empty, argument)) == Reading(Kind.NO_CALL)


@pytest.mark.parametrize(
    "body",
    [
        '{"name":"eat"}', '{"name": "eat", "arguments": {}}', '{"name":"eat","arguments":"{}"}', '{"tool":"eat"}',
        '{"name":"eat","parameters":{}}', '{"name":"eat","arguments":null}', '{"name":"functions.eat"}', '"eat"',
        '{"name":"eat","arguments":{"x":1}}', '{"name":"eat","name":"think"}', '{"name":"pick-up-left"}', "{}", "",
    ],
)  # fmt: skip
def test_between_tags_a_call_is_the_same_in_an_evaluation_and_in_training(body: str) -> None:
    """An evaluation rescues it from text; a checkpoint and training make it native."""
    text = f"<tool_call>\n{body}\n</tool_call>"
    assert rescued(text) is read(reply_from_text(text, Stop.FINISHED)).action
