"""The dinner plays the very game that `play` plays, whoever sits at the table and however the replies come."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai import eval_retry
from inspect_ai.event import InfoEvent, ModelEvent, SpanBeginEvent, StoreEvent
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from inspect_dining.table import Rules, View, episode_seed, parse, play, replay, see
from inspect_dining.table.narration import account, happened
from inspect_dining.table.players.scripted import players_under
from inspect_dining.table.players.strategies import seat_of
from inspect_dining.table.record import RECORD
from inspect_dining.tasks import philosophers
from tests.solvers.harness import Talker, calls, left_first, record_of, records_of, run, run_all, samples, says, score


@pytest.mark.parametrize("some", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_every_player_plays_under_inspect_the_game_it_plays_without(tmp_path: Path, some: bool) -> None:
    """A prompt that lost or bent something, or a coin keyed by arrival, would part the two.

    Some: a player with coins under two rules far apart, and three more under one. The rest is slow.
    """
    tables = [
        {"order": order, "release": release, "ties": ties, "hint": "parity"}
        for order in ("simultaneous", "sequential")
        for release in ("auto", "manual")
        for ties in ("random", "rotate", "lowest")
    ]
    few = ["random", "wave"]
    rest = [name for name in players_under(Rules(5)) if name not in few]
    whole = ((tables, few), (tables[:1] + tables[-1:], rest))
    for options, names in ((tables[::11], few[:1]), (tables[:1], ["wave", "hog", "silent"])) if some else whole:
        tasks = [philosophers(n=3, episodes=1, rounds=4, **o) for o in options]  # type: ignore[arg-type]
        logs = run_all(tasks, [f"dining/{name}" for name in names], tmp_path, log_realtime=False)
        assert len(logs) == len(options) * len(names)
        for log in logs:
            asked = {key: log.eval.task_args[key] for key in tables[0]}
            sample = samples(log)[0]
            assert record_of(sample) == play(
                Rules(n=3, rounds=4, **asked),
                log.eval.model.removeprefix("dining/"),
                episode_seed("test", "n03-s0-e000"),
            )


@pytest.mark.slow
def test_the_wave_eats_the_optimum(tmp_path: Path) -> None:
    sample = samples(run(philosophers(n=5, episodes=1, rounds=30), "dining/wave", tmp_path))[0]
    assert sum(replay(record_of(sample))[-1].after.meals) == 28
    assert score(sample, "efficiency") == score(sample, "proportional") == 1.0


def test_left_first_locks_in_round_one_and_silence_earns_the_paper_reward(tmp_path: Path) -> None:
    locked, silent = run_all(philosophers(n=5, episodes=1), ["dining/left_first", "dining/silent"], tmp_path)
    assert record_of(samples(locked)[0]).ended == "deadlock"
    assert len(record_of(samples(locked)[0]).rounds) == 1
    quiet = samples(silent)[0]
    assert score(quiet, "reward") == 1.0
    assert score(quiet, "proportional") < 0
    assert score(quiet, "lost_turns") == 1.0
    assert score(quiet, "idle") == 0.0


def test_a_table_is_mixed_by_roles_and_tokens_are_counted_by_seat(tmp_path: Path) -> None:
    log = run(
        philosophers(n=5, episodes=1, rounds=6),
        "dining/odd_even",
        tmp_path,
        model_roles={"seat_0": "dining/hog", "seat_3": "dining/silent"},
    )
    sample = samples(log)[0]
    seats = ["hog", "odd_even", "odd_even", "silent", "odd_even"]
    assert record_of(sample) == play(Rules(n=5, rounds=6), seats, episode_seed("test", "n05-s0-e000"))
    assert {f"seat_{i}" for i in range(5)} == set(sample.role_usage)


@pytest.mark.parametrize("elsewhere", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_one_seed_gives_one_record_however_the_calls_are_scheduled(tmp_path: Path, elsewhere: bool) -> None:
    """Same bytes with one connection and fifty, and in another process with another hash seed."""
    task = philosophers(n=4, episodes=3, rounds=8, seed=7)
    one = run(task, "dining/random", tmp_path, max_connections=1)
    fifty = run(task, "dining/random", tmp_path, max_connections=50, max_samples=3)
    assert records_of(one) == records_of(fifty)
    if not elsewhere:
        return
    command = [sys.executable, "-m", "inspect_ai", "eval", "inspect_dining/philosophers", "--model", "dining/random"]
    arguments = ["-Tn=4", "-Tepisodes=3", "-Trounds=8", "-Tseed=7", "--display", "none"]
    folder = tmp_path / "elsewhere"
    subprocess.run(
        [*command, *arguments, "--log-dir", str(folder)],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "271"},
        capture_output=True,
    )
    assert records_of(read_eval_log(str(next(folder.glob("*.eval"))))) == records_of(one)


def test_replies_in_reverse_order_give_the_same_record(tmp_path: Path) -> None:
    """Ties and turns must not go to whoever answers first."""

    def reply(view: View, _: object) -> ModelOutput:
        return calls("pick_up_left" if (view.round + seat_of(view)) % 3 else "pick_up_right")

    forward = Talker(reply, lambda view: 0.004 * seat_of(view))
    backward = Talker(reply, lambda view: 0.004 * (view.n - seat_of(view)))
    logs = [run(philosophers(n=5, episodes=1, rounds=5), t.model(), tmp_path) for t in (forward, backward)]
    assert records_of(logs[0]) == records_of(logs[1])
    assert [v.seat for v in forward.views()[:5]] == [0, 1, 2, 3, 4]


def test_all_seats_of_a_round_are_asked_before_any_answers(tmp_path: Path) -> None:
    """Seats that wait for each other would make a round of 15 as long as 15 calls."""
    talker = Talker(lambda view, _: calls("think"), together=7)
    run(philosophers(n=7, episodes=1, rounds=3), talker.model(), tmp_path)
    assert talker.most_open == 7
    single = Talker(lambda view, _: calls("think"), lambda view: 0.002)
    run(philosophers(n=7, episodes=1, rounds=3, order="sequential"), single.model(), tmp_path)
    assert single.most_open == 1


@pytest.mark.slow
def test_no_prompt_holds_anything_of_its_own_round(tmp_path: Path) -> None:
    """In simultaneous order a seat's view is the table at the round's start; in sequential order the table by then."""
    for order in ("simultaneous", "sequential"):
        talker = Talker(left_first)
        task = philosophers(n=4, episodes=1, rounds=6, order=order, patience=3)
        log = run(task, talker.model(), tmp_path)
        record = record_of(samples(log)[0])
        for round_ in replay(record):
            for view in (v for v in talker.views() if v.round == round_.number):
                assert view == see(round_.seen[seat_of(view)], seat_of(view), record.rules)


@pytest.mark.slow
def test_a_cached_run_repeats_and_seats_never_share_a_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal prompts of unlike seats, games or epochs would share a cache entry: one sample posing as several."""
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    count = 0

    def reply(view: View, _: object) -> ModelOutput:
        nonlocal count
        count += 1
        return calls("think" if view.round > 1 else "pick_up_left" if count % 2 else "pick_up_right")

    talker = Talker(reply)
    task = philosophers(n=3, episodes=2, rounds=3, patience=3)
    first = run(task, talker.model(), tmp_path, cache=True, epochs=2)
    assert len(talker.asked) == 3 * 3 * 2 * 2
    again = run(task, talker.model(), tmp_path, cache=True, epochs=2)
    assert len(talker.asked) == 3 * 3 * 2 * 2
    assert records_of(first) == records_of(again)


class Fragile(ModelAPI):
    """A provider that falls over in round 2 while it is broken."""

    broken = True

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        view = parse(input[-1].text)
        if Fragile.broken and view.round == 2 and view.seat == 1:
            raise RuntimeError("the provider fell over")
        return left_first(view, config)


@modelapi(name="fragile")
def fragile() -> type[ModelAPI]:
    return Fragile


def test_a_retried_run_gives_the_records_of_an_undisturbed_one(tmp_path: Path) -> None:
    """A provider that failed is an error, never a quiet philosopher; the retry plays the same games."""
    Fragile.broken = True
    task = philosophers(n=3, episodes=2, rounds=4, patience=2)
    failed = run(task, "fragile/model", tmp_path, fail_on_error=False)
    assert all(sample.error and not sample.scores for sample in samples(failed))
    assert record_of(samples(failed)[0]).ended == "cut: error (RuntimeError)"
    assert len(record_of(samples(failed)[0]).rounds) == 1
    Fragile.broken = False
    retried = eval_retry(failed, log_dir=str(tmp_path), display="none")[0]
    assert records_of(retried) == records_of(run(task, "fragile/model", tmp_path))


@pytest.mark.slow
def test_a_failure_before_any_round_leaves_an_empty_unscored_record(tmp_path: Path) -> None:
    """An empty record scored as a game would earn the full reward for no deadlock."""

    def reply(view: View, _: object) -> ModelOutput:
        raise RuntimeError("never up")

    log = run(philosophers(n=3, episodes=1, rounds=4), Talker(reply).model(), tmp_path, fail_on_error=False)
    sample = samples(log)[0]
    assert sample.error is not None
    assert sample.error.message == "RuntimeError('never up')"
    assert record_of(sample).rounds == ()
    assert not sample.scores


def test_several_calls_act_once_and_the_others_are_told(tmp_path: Path) -> None:
    talker = Talker(lambda view, _: calls("pick_up_left", "pick_up_right"))
    log = run(philosophers(n=3, episodes=1, rounds=3, memory="chat", patience=5), talker.model(), tmp_path)
    record = record_of(samples(log)[0])
    assert record.rounds == ("AAA",) * 3
    assert all(turn.reading.action == "pick_up_left" for round_ in replay(record) for turn in round_.turns)
    conversation = talker.asked[-1]
    answers = [message for message in conversation if message.role == "tool"]
    assert [message.text for message in answers[-2:]] == [
        "pick_up_left: no effect, that fork is already in your hand. Only your first call counted.",
        "One action a turn: only your first call counted.",
    ]


def test_what_is_remembered_is_what_was_asked_for(tmp_path: Path) -> None:
    last = {}
    for memory in (0, 2, "chat"):
        talker = Talker(left_first)
        task = philosophers(n=2, episodes=1, rounds=5, patience=9, memory=memory)
        run(task, talker.model(), tmp_path)
        last[memory] = talker.asked[-1]
    assert [m.role for m in last[0]] == ["system", "user"]
    assert "before" not in last[0][1].text
    assert [m.role for m in last[2]] == ["system", "user"]
    assert last[2][1].text.splitlines()[3:] == [
        "Your turns before:",
        *[line for line in last[2][1].text.splitlines() if line.startswith(("Round 3:", "Round 4:"))],
    ]
    assert [m.role for m in last["chat"]] == ["system", *["user", "assistant", "tool"] * 4, "user"]


def test_the_run_settings_reach_every_seat_and_defaults_fill_in(tmp_path: Path) -> None:
    """A model copied for a role loses the run's temperature in Inspect; a seat must not."""
    talker = Talker(left_first)
    run(philosophers(n=2, episodes=1, rounds=3), talker.model(), tmp_path, temperature=0.25)
    assert {(c.temperature, c.max_tokens, c.parallel_tool_calls) for c in talker.configs} == {(0.25, 2048, False)}
    short, role = Talker(left_first), Talker(left_first)
    run(
        philosophers(n=2, episodes=1, rounds=3),
        short.model(),
        tmp_path,
        max_tokens=99,
        model_roles={"seat_1": role.model()},
    )
    assert {c.max_tokens for c in short.configs} == {99}
    assert {(c.temperature, c.max_tokens, c.parallel_tool_calls) for c in role.configs} == {(None, 99, False)}
    bound = get_model("mockllm/model", custom_outputs=role.answer, config=GenerateConfig(max_tokens=7))
    run(philosophers(n=2, episodes=1, rounds=3), short.model(), tmp_path, model_roles={"seat_1": bound})
    assert role.configs[-1].max_tokens == 7
    assert set(talker.choices) == {"auto"}
    assert [tool.name for tool in talker.tools[0]] == [
        "pick_up_left",
        "pick_up_right",
        "put_down_left",
        "put_down_right",
        "eat",
        "think",
    ]


def test_a_context_overflow_cuts_the_game_and_is_no_lost_turn(tmp_path: Path) -> None:
    talker = Talker(lambda view, c: says("", "model_length") if view.round == 3 else left_first(view, c))
    log = run(philosophers(n=3, episodes=1, rounds=9, patience=9), talker.model(), tmp_path)
    sample = samples(log)[0]
    record = record_of(sample)
    assert record.ended.startswith("cut: the context of philosopher ")
    assert len(replay(record)) == 2
    assert sample.error is None
    assert log.results is not None
    assert log.results.scores[0].unscored_samples == 1


def test_the_log_shows_a_lane_a_philosopher_and_a_card_a_round(tmp_path: Path) -> None:
    sample = samples(run(philosophers(n=4, episodes=1, rounds=5), "dining/wave", tmp_path))[0]
    spans = [event for event in sample.events if isinstance(event, SpanBeginEvent)]
    assert [s.name for s in spans if s.type == "agent"] == [f"philosopher {i}" for i in range(4)]
    rounds = [s for s in spans if s.type == "round"]
    played = replay(record_of(sample))
    assert [s.name for s in rounds] == [f"round {r.number}: {happened(r.before, r.after)}" for r in played]
    infos = [event for event in sample.events if isinstance(event, InfoEvent)]
    kept = [str(info.data) for info in infos if info.span_id in {s.id for s in rounds}]
    cards = [sample.attachments[where.removeprefix("attachment://")] for where in kept]
    assert len(cards) == 5
    assert all(card.startswith(f"**Round {k} of 5**") for k, card in enumerate(cards, 1))
    first = sample.attachments[str(infos[0].data).removeprefix("attachment://")]
    assert first == account(record_of(sample))
    assert sample.messages[-1].text.startswith(first), "MESSAGES tells the game too"
    lanes = {s.id: s.name for s in spans if s.type == "agent"}
    assert sum(1 for info in infos if info.span_id in lanes) == 4 * 5
    asked = [event for event in sample.events if isinstance(event, ModelEvent)]
    assert {event.role for event in asked} == {f"seat_{i}" for i in range(4)}
    metadata = [event.input[-1].metadata for event in asked]
    assert {"episode": "n04-s0-e000", "epoch": 1, "seat": 3, "round": 5} in metadata


@pytest.mark.slow
def test_the_store_does_not_multiply_the_record(tmp_path: Path) -> None:
    """Every open span logs what changed in the store: fifteen lanes would log the record fifteen times."""
    sample = samples(run(philosophers(n=15, episodes=1, rounds=30), "dining/wave", tmp_path, log_realtime=False))[0]
    size = len(json.dumps(sample.store[RECORD]))
    stored = sum(len(event.model_dump_json()) for event in sample.events if isinstance(event, StoreEvent))
    assert stored < 4 * size
