"""Inspect's own provider classes at the table, each against a server that speaks its wire format."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import JsonValue

from inspect_dining.philosophers.prompts import TOOLS, observation, system_prompt
from inspect_dining.solvers.seat import EXTRA_CALL
from inspect_dining.table import Action, Kind, Reading, Rules, replay, see
from inspect_dining.table.moves import CODES
from tests.providers.conftest import Serve
from tests.providers.dinners import CHAT, connect, dine, record, sample, undisturbed, unscored
from tests.providers.server import Failing, Fault, Gate, player, refusal
from tests.providers.wires import Asked, Call, ChatCompletions, Json, Messages, Responses, Say, Wire


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider class of Inspect's.

    Attributes:
        model: A model that it takes.
        wire: The format that it speaks.
        settings: What it puts on the wire for `--temperature 0.7 --max-tokens 77` and the defaults of the table.
        overflow: How its vendor says that a context is full.
    """

    model: str
    wire: Callable[[], Wire]
    settings: Json
    overflow: Fault


CHAT_SETTINGS: Json = {"temperature": 0.7, "max_tokens": 77, "tool_choice": "auto", "parallel_tool_calls": False}
FULL = refusal(400, "This model's maximum context length is 4096 tokens.", "context_length_exceeded")
PROVIDERS = [
    Provider(CHAT, ChatCompletions, CHAT_SETTINGS, FULL),
    Provider("openai/gpt-4o", ChatCompletions, CHAT_SETTINGS, FULL),
    Provider("openrouter/mistralai/mistral-small-24b", ChatCompletions, CHAT_SETTINGS, FULL),
    Provider("openrouter/anthropic/claude-opus-4.7", ChatCompletions, CHAT_SETTINGS, FULL),
    Provider(
        "vllm/Qwen/Qwen3-14B",
        ChatCompletions,
        CHAT_SETTINGS,
        refusal(
            400, "This model's maximum context length is 4096 tokens. However, you requested 5000.", kind="BadRequest"
        ),
    ),
    Provider(
        "openai/gpt-5.4",
        Responses,  # where a choice of tools that is not forced is left out
        {"temperature": 0.7, "max_output_tokens": 77, "parallel_tool_calls": False},
        FULL,
    ),
    Provider(  # whose API of 2026 takes no temperature: Inspect leaves it out and warns
        "anthropic/claude-opus-4-7",
        Messages,
        {"max_tokens": 77, "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        refusal(400, "prompt is too long: 210000 tokens > 200000 maximum"),
    ),
]
every_provider = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.model)


@pytest.mark.sampled(1)
@every_provider
def test_a_whole_game_is_played_with_the_prompt_the_tools_and_the_settings(
    serve: Serve, tmp_path: Path, provider: Provider
) -> None:
    """What one provider class drops or bends makes a family of models look worse than it is."""
    rules = Rules(3, 8)
    server = serve(player("odd_even"), provider.wire(), Gate([2, 1, 0]))
    log = dine(connect(server, provider.model), rules, tmp_path, temperature=0.7, max_tokens=77)
    assert record(sample(log)) == undisturbed(sample(log), rules, "odd_even")
    prompts = {
        (asked.view.round, asked.view.seat): [(part.role, part.text) for part in asked.parts] for asked in server.asked
    }
    assert prompts == {
        (round.number, seat): [
            ("system", system_prompt(rules)),
            ("user", observation(see(round.before, seat, rules))),
        ]
        for round in replay(record(sample(log)))
        for seat in range(rules.n)
    }
    nothing: JsonValue = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    known = {"temperature", "max_tokens", "max_output_tokens", "tool_choice", "parallel_tool_calls"}
    for asked in server.asked:
        assert asked.tools == tuple((action.value, TOOLS[action], nothing) for action in Action)
        assert {name: value for name, value in asked.body.items() if name in known} == provider.settings


def shapes(wire: Wire) -> dict[str, tuple[Say, Reading]]:
    """What a model may reply in any format, and the reading of it."""
    return {
        "one call": (Say((Call("pick_up_left"),)), Reading(Kind.ACTION, Action.PICK_UP_LEFT)),
        "two calls": (Say((Call("think"), Call("eat"))), Reading(Kind.SEVERAL, Action.THINK)),
        "a thought and a call": (
            Say((Call("put_down_left"),), reasoning="Let go."),
            Reading(Kind.ACTION, Action.PUT_DOWN_LEFT),
        ),
        "a word and a call": (Say((Call("think"),), text="I wait."), Reading(Kind.ACTION, Action.THINK)),
        "no such tool, and more": (Say((Call("talk"), Call("eat"), Call("eat"))), Reading(Kind.UNKNOWN)),
        "text": (Say(text="I pick up my left fork."), Reading(Kind.NO_CALL)),
        "nothing": (Say(), Reading(Kind.EMPTY)),
        "a thought": (Say(reasoning="I will pick up left."), Reading(Kind.EMPTY)),
        "a text that was cut": (Say(text="I pick", finish=wire.cut), Reading(Kind.TRUNCATED)),
        "a cut before any text": (Say(finish=wire.cut), Reading(Kind.TRUNCATED)),
        "a text that was withheld": (Say(text="I", finish=wire.filtered), Reading(Kind.REFUSED)),
        "one more call": (Say((Call("think"),)), Reading(Kind.ACTION, Action.THINK)),
    }


@pytest.mark.sampled(1)
@every_provider
def test_replies_are_read_alike_and_every_call_id_gets_its_answer(
    serve: Serve, tmp_path: Path, provider: Provider
) -> None:
    """A vendor refuses a conversation in which a call has no answer or two, and names an empty reply in its own way."""
    wire = provider.wire()
    replies = list(shapes(wire).values())

    def say(asked: Asked) -> Say:
        return replies[asked.view.round - 1][0] if asked.view.seat == 0 else Say((Call("think"),))

    server = serve(say, wire)
    eaten = sample(dine(connect(server, provider.model), Rules(2, len(replies)), tmp_path, memory="chat"))
    codes = [round[0] for round in record(eaten).rounds]
    assert dict(zip(shapes(wire), codes, strict=True)) == {
        n: CODES[reading] for n, (_, reading) in shapes(wire).items()
    }
    conversation = [asked for asked in server.asked if asked.view.seat == 0]
    for asked in conversation:
        assert asked.ids("answer") == asked.ids("call")
        assert len(set(asked.ids("call"))) == len(asked.ids("call"))
    made = [call for said, _ in replies[:-1] for call in said.calls]
    last = conversation[-1].parts
    assert [part.text.split()[0] for part in last if part.role == "call"] == [call.name for call in made]
    surplus = sum(max(0, len(said.calls) - 1) for said, _ in replies)
    assert sum(part.role == "answer" and part.text == EXTRA_CALL for part in last) == surplus


@pytest.mark.sampled(2)
@every_provider
def test_a_full_context_cuts_the_game_in_whatever_words_it_is_told(
    serve: Serve, tmp_path: Path, provider: Provider
) -> None:
    server = serve(Failing(player("odd_even"), {(1, 3): provider.overflow}), provider.wire())
    log = dine(connect(server, provider.model), Rules(3, 5), tmp_path)
    assert log.status == "success"
    assert record(sample(log)).ended == "cut: the context of philosopher 1 overflowed"
    assert len(record(sample(log)).rounds) == 2
    assert unscored(log) == {1}


@every_provider
def test_a_key_that_is_refused_is_an_error(serve: Serve, tmp_path: Path, provider: Provider) -> None:
    server = serve(lambda asked: refusal(401, "This is no key.", "invalid_api_key"), provider.wire())
    log = dine(connect(server, provider.model), Rules(3, 5), tmp_path)
    assert log.status == "error"
    assert not sample(log).scores
    assert record(sample(log)).rounds == ()


@pytest.mark.sampled(1)
@every_provider
def test_a_passing_fault_leaves_no_trace(serve: Serve, tmp_path: Path, provider: Provider) -> None:
    """Overload (529) is Anthropic's own word for come back later."""
    busy = 529 if provider.wire is Messages else 503
    faults = {
        (0, 2): refusal(429, "Slow down.", "rate_limit_exceeded", retry_after=0.01),
        (1, 3): refusal(busy, "Overloaded", kind="overloaded_error", retry_after=0.01),
        (2, 4): Fault(cut=0),
    }
    server = serve(Failing(player("odd_even"), faults, range(1)), provider.wire())
    eaten = sample(dine(connect(server, provider.model), Rules(3, 5), tmp_path))
    assert record(eaten) == undisturbed(eaten, Rules(3, 5), "odd_even")
    assert len(server.asked) == 15 + len(faults)


def test_a_table_of_four_vendors_plays_the_game_of_one(serve: Serve, tmp_path: Path) -> None:
    """Roles once melted into one usage, and one side of a mixed table went unscored in silence."""
    rules, players = Rules(4, 8), ("odd_even", "hierarchy", "hog", "odd_even")
    seats = [PROVIDERS[place] for place in (0, 4, 5, 6)]
    servers = [serve(player(name), seat.wire()) for name, seat in zip(players, seats, strict=True)]
    models = [connect(server, seat.model) for server, seat in zip(servers, seats, strict=True)]
    roles = {f"seat_{seat}": model for seat, model in enumerate(models) if seat}
    eaten = sample(dine(models[0], rules, tmp_path, roles=roles))
    assert record(eaten) == undisturbed(eaten, rules, players)
    assert len(record(eaten).rounds) == rules.rounds
    for seat, server in enumerate(servers):
        assert {asked.view.seat for asked in server.asked} == {seat}
        assert eaten.role_usage[f"seat_{seat}"].output_tokens == 5 * rules.rounds
    throughput = (eaten.scores or {})["throughput"]
    meals = [int(each) for each in str(throughput.answer).removeprefix("meals ").split("/")]
    assert len(meals) == rules.n
    assert throughput.as_float() == pytest.approx(sum(meals) / (rules.n * rules.rounds), abs=1e-4)
    assert sum(meals) > 0
