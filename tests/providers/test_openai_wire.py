"""Dinners over the wire format of chat completions: what reaches the server, and what comes of its replies."""

from itertools import pairwise
from pathlib import Path

import pytest
from inspect_ai.model import GenerateConfig
from pydantic import JsonValue

from inspect_dining.analysis.inputs.collection import read
from inspect_dining.philosophers.prompts import TOOLS, observation, system_prompt
from inspect_dining.solvers.seat import EXTRA_CALL
from inspect_dining.table import Action, Kind, Outcome, Reading, Rules, replay, see
from inspect_dining.table.moves import CODES
from inspect_dining.table.players.strategies import seat_of
from tests.providers.conftest import Serve
from tests.providers.dinners import calls, connect, dine, record, sample, samples, undisturbed
from tests.providers.server import Fault, Gate, player
from tests.providers.wires import Asked, Call, ChatCompletions, Say

GAMES = [
    (Rules(5, 12), "odd_even"),
    (Rules(5, 12), "left_first"),
    (Rules(4, 10, order="sequential", ties="rotate"), "hog"),
    (Rules(3, 10, release="manual", hint="parity"), "hierarchy"),
    (Rules(2, 3), "silent"),
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("rules", "name"), GAMES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_game_over_the_wire_is_the_game_in_play(serve: Serve, tmp_path: Path, rules: Rules, name: str) -> None:
    """A scripted player that reads the prompt on the wire must get the very game that it gets without any model."""
    server = serve(player(name))
    eaten = sample(dine(connect(server), rules, tmp_path))
    assert record(eaten) == undisturbed(eaten, rules, name)
    assert len(server.asked) == rules.n * len(record(eaten).rounds)


@pytest.mark.parametrize("rules", [Rules(5, 8), Rules(3, 8, order="sequential")], ids=["simultaneous", "sequential"])
def test_a_prompt_is_the_rules_and_the_own_view_and_nothing_else(serve: Serve, tmp_path: Path, rules: Rules) -> None:
    """In a round that was called simultaneous, later seats once decided knowing what earlier ones had chosen."""
    server = serve(player("odd_even"))
    eaten = sample(dine(connect(server), rules, tmp_path))
    prompts = {(asked.view.round, asked.view.seat): asked.body["messages"] for asked in server.asked}
    assert prompts == {
        (round.number, seat): [
            {"role": "system", "content": system_prompt(rules)},
            {"role": "user", "content": observation(see(round.seen[seat], seat, rules))},
        ]
        for round in replay(record(eaten))
        for seat in range(rules.n)
    }
    if rules.order == "simultaneous":
        assert all(set(round.seen) == {round.before} for round in replay(record(eaten)))


@pytest.mark.slow
def test_a_round_of_15_goes_on_though_nobody_is_answered_before_all_have_asked(serve: Serve, tmp_path: Path) -> None:
    """A table that awaits one seat's reply before it asks the next one never gets an answer here."""
    rules = Rules(15, 4)
    server = serve(player("odd_even"), gate=Gate(list(reversed(range(15)))))
    eaten = sample(dine(connect(server), rules, tmp_path))
    assert record(eaten) == undisturbed(eaten, rules, "odd_even")
    assert [asked.view.round for asked in server.asked] == [number for number in range(1, 5) for _ in range(15)]
    done = sorted(calls(eaten)[:15], key=lambda event: str(event.completed))
    assert [event.role for event in done] == [f"seat_{seat}" for seat in reversed(range(15))]


def test_replies_in_any_order_give_the_same_bytes(serve: Serve, tmp_path: Path) -> None:
    """Parallel branches that write one state once left it to whoever came last."""
    rules, records = Rules(5, 9), set()
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]):
        server = serve(player("hog"), gate=Gate(order))
        records.add(record(sample(dine(connect(server), rules, tmp_path))).to_json())
    assert len(records) == 1


def test_a_round_takes_as_long_as_its_slowest_seat(serve: Serve, tmp_path: Path) -> None:
    """Branches that run one after the other take n times as long: here six seconds instead of one."""
    thought = ChatCompletions().write(Say((Call("think"),)), 1, "qwen")
    server = serve(lambda asked: Fault(body=thought, after=1.0 if asked.view.round == 1 else 0.0))
    dine(connect(server), Rules(6, 3), tmp_path)
    arrivals = list(zip([asked.view.round for asked in server.asked], server.times, strict=True))
    first = [time for number, time in arrivals if number == 1]
    second = [time for number, time in arrivals if number == 2]
    assert max(first) - min(first) < 1
    assert 1 <= min(second) - min(first) < 2


def test_the_six_tools_are_offered_and_none_takes_an_argument(serve: Serve, tmp_path: Path) -> None:
    server = serve(player("think"))
    dine(connect(server), Rules(2, 3), tmp_path)
    nothing: JsonValue = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    for asked in server.asked:
        assert asked.tools == tuple((action.value, TOOLS[action], nothing) for action in Action)
        assert asked.body.keys() == {
            *("model", "messages", "tools", "tool_choice"),
            *("parallel_tool_calls", "max_tokens"),
        }
        assert asked.body["tool_choice"] == "auto"
        assert asked.body["parallel_tool_calls"] is False
        assert asked.body["max_tokens"] == 2048


def sent(asked: Asked) -> dict[str, JsonValue]:
    """The settings in a request."""
    return {name: asked.body.get(name) for name in ("max_tokens", "temperature", "top_p", "parallel_tool_calls")}


def test_the_settings_of_a_run_reach_every_seat_that_the_evaluated_model_takes(serve: Serve, tmp_path: Path) -> None:
    """Inspect merges them into the evaluated model itself: a seat's copy of it, which counts its tokens, lost them."""
    server = serve(player("think"))
    settings: dict[str, JsonValue] = {"max_tokens": 77, "temperature": 0.7, "top_p": 0.5, "parallel_tool_calls": True}
    dine(
        connect(server, config=GenerateConfig(temperature=0.2)),
        Rules(3, 3),
        tmp_path,
        temperature=0.7,
        top_p=0.5,
        max_tokens=77,
        parallel_tool_calls=True,
    )
    assert {asked.view.seat for asked in server.asked} == {0, 1, 2}
    assert [sent(asked) for asked in server.asked] == [settings] * len(server.asked)
    (run,) = read([tmp_path]).runs
    assert dict(run.player.settings) == {name: str(value) for name, value in settings.items()}, "as it is compared"


def test_a_seat_with_a_model_of_its_own_gets_what_its_role_sets_and_the_bounds_of_the_run(
    serve: Serve, tmp_path: Path
) -> None:
    """A role's sampling is its own, as everywhere in Inspect; what bounds a reply holds for the whole table."""
    server, other = serve(player("think")), serve(player("think"))
    config = GenerateConfig(temperature=0.2, max_tokens=9, parallel_tool_calls=True)
    roles = {"seat_1": connect(other), "seat_3": connect(other, config=config)}
    dine(connect(server), Rules(4, 3), tmp_path, roles=roles, temperature=0.7, max_tokens=77)
    assert {asked.view.seat for asked in server.asked} == {0, 2}
    assert {asked.view.seat for asked in other.asked} == {1, 3}
    for asked in server.asked:
        assert sent(asked) == {"max_tokens": 77, "temperature": 0.7, "top_p": None, "parallel_tool_calls": False}
    bounds: dict[str, JsonValue] = {
        "max_tokens": 77,
        "temperature": None,
        "top_p": None,
        "parallel_tool_calls": False,
    }
    own: dict[str, JsonValue] = {"max_tokens": 9, "temperature": 0.2, "top_p": None, "parallel_tool_calls": True}
    for asked in other.asked:
        assert sent(asked) == (own if asked.view.seat == 3 else bounds)


SHAPES: dict[str, tuple[Say, Reading]] = {
    "one call": (Say((Call("pick_up_left"),)), Reading(Kind.ACTION, Action.PICK_UP_LEFT)),
    "arguments that are an empty text": (Say((Call("think", ""),)), Reading(Kind.ACTION, Action.THINK)),
    "arguments that are null": (Say((Call("think", "null"),)), Reading(Kind.ACTION, Action.THINK)),
    "a name in another hand": (Say((Call("Put-Down.Left"),)), Reading(Kind.ACTION, Action.PUT_DOWN_LEFT)),
    "two calls": (
        Say((Call("pick_up_left"), Call("pick_up_right"))),
        Reading(Kind.SEVERAL, Action.PICK_UP_LEFT),
    ),
    "reasoning, then a call": (
        Say((Call("put_down_left"),), reasoning="I shall eat."),
        Reading(Kind.ACTION, Action.PUT_DOWN_LEFT),
    ),
    "a call, then a broken one": (Say((Call("think"), Call("eat", "{"))), Reading(Kind.SEVERAL, Action.THINK)),
    "an argument that no tool has": (Say((Call("think", '{"side": "left"}'),)), Reading(Kind.MALFORMED)),
    "arguments that are no JSON": (Say((Call("think", '{"side": "le'),)), Reading(Kind.MALFORMED)),
    "arguments that are nearly JSON": (Say((Call("think", "{side: left}"),)), Reading(Kind.MALFORMED)),
    "arguments that were cut": (Say((Call("think", '{"side'),), finish="length"), Reading(Kind.TRUNCATED)),
    "a tool that does not exist": (Say((Call("pick_up_fork"),)), Reading(Kind.UNKNOWN)),
    "a wrong call before a good one": (Say((Call("talk"), Call("eat"))), Reading(Kind.UNKNOWN)),
    "text": (Say(text="I pick up the left fork: pick_up_left()."), Reading(Kind.NO_CALL)),
    "nothing": (Say(), Reading(Kind.EMPTY)),
    "reasoning alone": (Say(reasoning="I will pick up left."), Reading(Kind.EMPTY)),
    "thought within the text": (Say(text="<think>pick_up_left</think>"), Reading(Kind.EMPTY)),
    "a thought without end": (Say(text="<think>Once more:", finish="length"), Reading(Kind.TRUNCATED)),
    "a text that was filtered": (Say(text="I", finish="content_filter"), Reading(Kind.REFUSED)),
    "one more call": (Say((Call("think"),)), Reading(Kind.ACTION, Action.THINK)),
}
"""What a model may reply, and the reading of it."""


def shapes(asked: Asked) -> Say:
    """Seat 0 goes through the shapes, one a round."""
    return list(SHAPES.values())[asked.view.round - 1][0] if asked.view.seat == 0 else Say((Call("think"),))


def test_whatever_a_model_replies_is_read_as_what_it_is(serve: Serve, tmp_path: Path) -> None:
    """Lost turns were once taken for `think`, broken arguments for none, and thoughts for deeds."""
    log = dine(connect(serve(shapes)), Rules(2, len(SHAPES)), tmp_path)
    codes = [round[0] for round in record(sample(log)).rounds]
    assert dict(zip(SHAPES, codes, strict=True)) == {name: CODES[reading] for name, (_, reading) in SHAPES.items()}
    lost = sum(1 for _, reading in SHAPES.values() if not reading.acts)
    scores = sample(log).scores or {}
    assert scores["lost_turns"].value == round(lost / (2 * len(SHAPES)), 4)


@pytest.mark.slow
def test_in_a_kept_conversation_every_call_gets_exactly_one_answer(serve: Serve, tmp_path: Path) -> None:
    """Servers refuse a conversation in which a call has no answer, or two: also of broken, wrong and surplus calls."""
    server = serve(shapes)
    rules = Rules(2, len(SHAPES))
    eaten = sample(dine(connect(server), rules, tmp_path, memory="chat"))
    asked = [asked for asked in server.asked if asked.view.seat == 0]
    own = [observation(see(round.before, 0, rules)) for round in replay(record(eaten))]
    assert [part.text for part in asked[-1].parts if part.role == "user"] == own
    for one in asked:
        assert one.ids("answer") == one.ids("call")
        assert len(set(one.ids("call"))) == len(one.ids("call"))
        at = {part.id: place for place, part in enumerate(one.parts) if part.role == "call"}
        answered = {part.id: place for place, part in enumerate(one.parts) if part.role == "answer"}
        nexts = [place for place, part in enumerate(one.parts) if part.role in {"user", "assistant"}]
        for id, place in answered.items():
            assert not any(at[id] < other < place for other in nexts)
    made = sum(len(said.calls) for said, _ in list(SHAPES.values())[:-1])
    assert len(asked[-1].ids("call")) == made
    assert sum(part.text == EXTRA_CALL for part in asked[-1].parts) == sum(
        max(0, len(said.calls) - 1) for said, _ in SHAPES.values()
    )
    for before, after in pairwise(asked):
        assert after.parts[: len(before.parts)] == before.parts
    assert [round[0] for round in record(eaten).rounds] == [CODES[reading] for _, reading in SHAPES.values()]


def test_thinkers_without_end_lose_their_turns_and_not_the_game(serve: Serve, tmp_path: Path) -> None:
    """Replies that the token limit cut, in every round, are no error and no `think`: the game says what they were."""
    rules = Rules(3, 4)
    server = serve(lambda asked: Say(text="<think>Hm, if I take the left fork", finish="length"))
    log = dine(connect(server), rules, tmp_path, max_tokens=16)
    scores = sample(log).scores or {}
    assert record(sample(log)).rounds == (CODES[Reading(Kind.TRUNCATED)] * rules.n,) * rules.rounds
    assert (scores["lost_turns"].value, scores["idle"].value, scores["efficiency"].value) == (1, 0, 0)
    assert "12 truncated" in str(scores["lost_turns"].explanation)
    assert {asked.body["max_tokens"] for asked in server.asked} == {16}


def test_tokens_are_counted_for_every_seat(serve: Serve, tmp_path: Path) -> None:
    """Usage that is keyed by model alone melts all seats of one model into one number."""

    def say(asked: Asked) -> Say:
        return Say((Call("think"),), tokens=(100 * (seat_of(asked.view) + 1), asked.view.round))

    eaten = sample(dine(connect(serve(say)), Rules(3, 4), tmp_path))
    usage = {role: (used.input_tokens, used.output_tokens) for role, used in eaten.role_usage.items()}
    assert usage == {f"seat_{seat}": (400 * (seat + 1), 1 + 2 + 3 + 4) for seat in range(3)}


@pytest.mark.slow
def test_cached_replies_are_shared_by_nobody(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games whose prompts coincide once shared each other's cached replies, and were no longer two games."""
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    rules, server = Rules(3, 3), serve(player("think"))
    turns = 2 * 2 * rules.n * rules.rounds
    first = dine(connect(server), rules, tmp_path, episodes=2, epochs=2, max_samples=1, cache=True)
    assert len(server.asked) == turns
    again = dine(connect(server), rules, tmp_path, episodes=2, epochs=2, max_samples=1, cache=True)
    assert len(server.asked) == turns
    assert [record(one) for one in samples(again)] == [record(one) for one in samples(first)]


def test_who_only_breaks_the_rules_earns_nothing(serve: Serve, tmp_path: Path) -> None:
    """A game that is not lost was once a game that is won, so that rule breakers scored 100%."""
    eaten = sample(dine(connect(serve(lambda asked: Say((Call("eat"),)))), Rules(4, 5), tmp_path))
    outcomes = {turn.outcome for round in replay(record(eaten)) for turn in round.turns}
    assert outcomes == {Outcome.NO_EFFECT}
    scores = {name: score.value for name, score in (eaten.scores or {}).items()}
    assert scores["efficiency"] == scores["throughput"] == scores["jain"] == scores["proportional"] == 0
    assert scores["starved"] == 1


@pytest.mark.slow
def test_nothing_ends_a_long_game_before_its_horizon(serve: Serve, tmp_path: Path) -> None:
    """LangGraph ends a graph after 25 steps unless told otherwise, and a kept conversation grows without end."""
    rules = Rules(3, 200)
    server = serve(player("odd_even"))
    eaten = sample(dine(connect(server), rules, tmp_path, memory="chat"))
    assert record(eaten) == undisturbed(eaten, rules, "odd_even")
    assert len(server.asked[-1].ids("answer")) == 199
