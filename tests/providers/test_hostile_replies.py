"""Whatever a model says is bounded before it is logged, and goes back in a form that every vendor takes."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from inspect_ai.event import ModelEvent
from pydantic import JsonValue

from inspect_dining.table import Rules
from inspect_dining.table.moves import READINGS
from inspect_dining.table.players.strategies import seat_of
from tests.providers.conftest import Serve
from tests.providers.dinners import CHAT, connect, dine, record, sample, samples, unscored
from tests.providers.server import Failing, Fault
from tests.providers.wires import Asked, Call, ChatCompletions, Json, Messages, Responses, Say, Wire


def nested(depth: int) -> str:
    """An object of so many objects, each in the other."""
    return '{"a":' * depth + "{}" + "}" * depth


LOST: dict[str, tuple[Say, str]] = {
    "a name with a blank": (Say((Call("pick up the fork"),)), "unknown"),
    "a name with dots and quotes": (Say((Call('functions.pick "up"'),)), "unknown"),
    "a name in another script": (Say((Call("\u043f\u0438\u0441\u043a"),)), "unknown"),
    "a name of 100,000 letters": (Say((Call("x" * 100_000),)), "unknown"),
    "an empty name": (Say((Call(""),)), "malformed"),
    "a name of blanks": (Say((Call("   "),)), "malformed"),
    "an id that no vendor makes": (Say((Call("think", id="a b/c"),)), "action"),
    "an id that was there before": (Say((Call("think", id="again"),)), "action"),
    "the same id twice": (Say((Call("think", id="again"), Call("eat", id="again"))), "several"),
    "nothing": (Say(), "empty"),
    "blanks": (Say(text=" \n "), "empty"),
    "reasoning alone": (Say(reasoning="I will pick up left."), "empty"),
    "a refusal without a word": (Say(finish="content_filter"), "refused"),
    "a cut before any text": (Say(finish="length"), "truncated"),
    "arguments nested 250 deep": (Say((Call("think", nested(250)),)), "malformed"),
    "arguments nested 100,000 deep": (Say((Call("think", nested(100_000)),)), "malformed"),
    "arguments of a million letters": (Say((Call("think", json.dumps({"a": "x" * 10**6})),)), "malformed"),
    "a number of 5,000 digits": (Say((Call("think", f'{{"a": {"9" * 5000}}}'),)), "malformed"),
    "numbers that are none": (Say((Call("think", '{"a": NaN, "b": Infinity, "c": 1e999}'),)), "malformed"),
    "arguments in halves of letters": (Say((Call("think", '{"\\ud800": "\\udfff"}'),)), "malformed"),
    "text in halves of letters": (Say(text="I wait \ud83c."), "no_call"),
    "text of a million letters": (Say(text="I wait. " * 125_000), "no_call"),
    "text of controls": (Say(text="\x00\x1b[31m\x9b\u202e"), "no_call"),
    "a thousand calls": (Say(tuple(Call("think") for _ in range(1000))), "several"),
}
"""Replies that no log can hold, or that strict vendors do not take back, and how they are read."""


def raw(said: Say, number: int) -> Say | Fault:
    """What is said; halves of letters only pass as escapes, which the vendors' own types refuse to write."""
    if not said.text.isascii() and "\ud83c" in said.text:
        whole: Json = json.loads(ChatCompletions().write(Say(text="I wait."), number, "qwen"))
        return Fault(body=json.dumps(whole).replace("I wait.", "I wait \\ud83c."))
    return said


@pytest.mark.slow
def test_no_reply_loses_its_game_and_all_of_it_is_logged_and_sent_back(serve: Serve, tmp_path: Path) -> None:
    """One call nested 250 deep once lost a whole sample, record and all, and one bad tool name once ended a game."""
    rules = Rules(2, len(LOST) + 1)
    says = [said for said, _ in LOST.values()]

    def say(asked: Asked) -> Say | Fault:
        if asked.view.seat or asked.view.round > len(says):
            return Say((Call("think"),))
        return raw(says[asked.view.round - 1], asked.view.round)

    server = serve(say)
    log = dine(connect(server), rules, tmp_path, memory="chat")
    one = sample(log)
    assert one.error is None
    codes = [codes[0] for codes in record(one).rounds]
    found = {name: str(READINGS[code].kind) for name, code in zip(LOST, codes, strict=False)}
    assert found == {name: kind for name, (_, kind) in LOST.items()}
    assert record(one).complete
    assert one.scores is not None
    assert unscored(log) == {0}
    assert sum(isinstance(event, ModelEvent) for event in one.events) == 2 * rules.rounds
    assert Path(log.location).stat().st_size < 2_000_000


STRICT: dict[str, Say] = {
    "no text": Say(),
    "an odd name": Say((Call("pick up!"),)),
    "an empty name": Say((Call(""),)),
    "reasoning": Say(reasoning="Hm."),
    "several": Say((Call("talk"), Call("think"), Call(""))),
    "text": Say(text="I wait."),
}
FORMATS: list[tuple[str, Callable[[], Wire]]] = [
    (CHAT, ChatCompletions),
    ("vllm/Qwen/Qwen3-14B", ChatCompletions),
    ("openrouter/anthropic/claude-opus-4.7", ChatCompletions),
    ("openai/gpt-5.4", Responses),
    ("anthropic/claude-opus-4-7", Messages),
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("model", "wire"), FORMATS, ids=[model for model, _ in FORMATS])
def test_a_turn_lost_in_any_way_in_any_round_leaves_a_conversation_that_a_strict_server_takes(
    serve: Serve, tmp_path: Path, model: str, wire: Callable[[], Wire]
) -> None:
    """Both seats lose a turn in every round, each in another way, so that every way follows every other."""
    kinds = list(STRICT.values())
    rounds = len(kinds) + 1

    def say(asked: Asked) -> Say:
        shift = asked.view.round - 1 + (seat_of(asked.view) * (asked.view.round + 1))
        return kinds[shift % len(kinds)]

    log = dine(connect(serve(say, wire()), model), Rules(2, rounds), tmp_path, memory="chat")
    assert sample(log).error is None
    assert len(record(sample(log)).rounds) == rounds


def test_a_raw_reply_that_no_log_can_hold_is_left_out_of_it(serve: Serve, tmp_path: Path) -> None:
    """Anthropic sends arguments as JSON, not as text: the raw reply in the log is as deep as what the model said."""
    whole: Json = json.loads(Messages().write(Say((Call("think"),)), 1, "claude"))
    deep: JsonValue = json.loads(nested(250))
    content = whole["content"]
    assert isinstance(content, list)
    assert isinstance(content[0], dict)
    content[0]["input"] = deep
    good = Say((Call("think"),))
    server = serve(Failing(lambda asked: good, {(0, 2): Fault(body=json.dumps(whole))}), Messages())
    log = dine(connect(server, "anthropic/claude-opus-4-7"), Rules(2, 3), tmp_path, episodes=1)
    (one,) = samples(log)
    assert one.error is None
    assert [str(READINGS[codes[0]].kind) for codes in record(one).rounds] == ["action", "malformed", "action"]


def test_every_way_to_lose_a_turn_follows_every_other() -> None:
    """The schedule above is meant to; a change of its length could break it without a word."""
    count = len(STRICT)
    pairs = {
        tuple((number + seat * (number + 2)) % count for number in (at, at + 1))
        for seat, at in product((0, 1), range(count))
    }
    assert len(pairs) >= count
