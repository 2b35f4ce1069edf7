"""Whatever goes wrong between a seat and its model: retried, an error, or a cut game, and never a score."""

import json
import os
import subprocess
import sys
from collections import Counter
from math import isnan
from pathlib import Path

import pytest
from inspect_ai import eval, eval_retry
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, recompute_metrics
from inspect_ai.model import ModelCost, ModelInfo, set_model_info

from inspect_dining.table import Rules
from inspect_dining.table.players.strategies import seat_of
from inspect_dining.table.rules import Order
from tests.providers.conftest import Serve
from tests.providers.dinners import CHAT, Options, connect, dine, record, sample, samples, undisturbed, unscored
from tests.providers.server import Failing, Fault, Gate, player, refusal
from tests.providers.wires import Asked, Call, ChatCompletions, Json, Say

GOOD: Json = json.loads(ChatCompletions().write(Say((Call("think"),)), 1, "qwen"))


def body(**changed: object) -> Fault:
    """A reply with something changed."""
    return Fault(body=json.dumps(GOOD | changed))


PASSING = {
    "a rate limit": refusal(429, "Slow down.", "rate_limit_exceeded"),
    "a server error": refusal(500, "Oops.", kind="server_error"),
    "an overloaded server": refusal(503, "Come back later."),
    "a connection cut before the reply": Fault(cut=0),
    "a connection cut in its head": Fault(body=json.dumps(GOOD), cut=20),
    "a connection cut in its body": Fault(body=json.dumps(GOOD), cut=250),
    "a reply that comes too late": Fault(body=json.dumps(GOOD), after=3),
    "a proxy's page": Fault(body="<html>Bad gateway</html>", headers=(("content-type", "text/html"),)),
    "a text instead of a reply": Fault(body='"hello"'),
}
"""Faults that Inspect retries."""
LASTING = {
    "an extra field that is not permitted": refusal(422, "Extra inputs are not permitted: tools.0.function.strict"),
    "a bad request": refusal(400, "This is no request."),
    "a wrong key": refusal(401, "This is no key.", "invalid_api_key"),
    "a forbidden model": refusal(403, "Not for you."),
    "a model that is not there": refusal(404, "There is no such model.", "model_not_found"),
    "a body that breaks off": Fault(body='{"choices": ['),
    "no body": Fault(),
    "no choices": body(choices=[]),
    "null for choices": body(choices=None),
    "a choice without a message": body(choices=[{"index": 0, "finish_reason": "stop", "message": None}]),
    "an error in a body that says 200": body(choices=None, error={"code": 400, "message": "No."}),
}
"""Faults that no retry mends."""


def test_what_goes_wrong_once_leaves_no_trace_in_the_record(serve: Serve, tmp_path: Path) -> None:
    """A retried turn that counted as a lost one, or played twice, would make a game depend on the network."""
    faults = {(1, number): fault for number, fault in enumerate(PASSING.values(), 2)}
    rules = Rules(3, len(PASSING) + 2)
    server = serve(Failing(player("odd_even"), faults, range(1)))
    log = dine(connect(server, max_retries=0, client_timeout=1), rules, tmp_path)
    assert record(sample(log)) == undisturbed(sample(log), rules, "odd_even")
    asked = Counter((asked.view.seat, asked.view.round) for asked in server.asked)
    assert {turn for turn, times in asked.items() if times > 1} == faults.keys()
    assert max(asked.values()) == 2
    assert unscored(log) == {0}


def test_a_seat_waits_as_long_as_the_server_asks(serve: Serve, tmp_path: Path) -> None:
    """The wait is the seat's own: the others' requests are out, and the round goes on when it is over."""
    limited = refusal(429, "Slow down.", "rate_limit_exceeded", retry_after=0.7)
    server = serve(Failing(player("odd_even"), {(0, 2): limited}, range(1)))
    eaten = sample(dine(connect(server), Rules(3, 4), tmp_path))
    first, again = (time for asked, time in zip(server.asked, server.times, strict=True) if turn_of(asked) == (0, 2))
    assert 0.7 <= again - first < 5
    assert record(eaten) == undisturbed(eaten, Rules(3, 4), "odd_even")


def turn_of(asked: Asked) -> tuple[int, int]:
    """The seat and the round of a request."""
    return seat_of(asked.view), asked.view.round


def cut_after(of: EvalSample, rules: Rules, rounds: int) -> str:
    """Why a game was cut. Its record must be the true account of just so many rounds."""
    found, whole = record(of), undisturbed(of, rules, "odd_even")
    assert found.rounds == whole.rounds[:rounds]
    assert found.hashes == whole.hashes[:rounds]
    assert not found.complete
    return found.ended


FOR_EVER = LASTING | {f"{name}, again and again": fault for name, fault in PASSING.items()}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("fault", FOR_EVER.values(), ids=FOR_EVER.keys())
def test_a_broken_provider_is_an_error_and_never_a_score(serve: Serve, tmp_path: Path, fault: Fault) -> None:
    """A seat whose every call failed once sat there as a silent one, and silence scored."""
    server = serve(Failing(player("odd_even"), {(1, 3): fault}))
    log = dine(connect(server, max_retries=0, client_timeout=1), Rules(3, 5), tmp_path, max_retries=1)
    failed = sample(log)
    assert log.status == "error"
    assert log.results is None
    assert failed.error is not None
    assert not failed.scores
    assert cut_after(failed, Rules(3, 5), 2).startswith("cut: error (")


@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
def test_a_table_whose_every_call_is_refused_plays_no_round(serve: Serve, tmp_path: Path, order: Order) -> None:
    """A server that rejects `strict` in tools (422) must not look like five quiet philosophers."""
    gate = Gate([4, 3, 2, 1, 0]) if order == "simultaneous" else None
    server = serve(lambda asked: LASTING["an extra field that is not permitted"], gate=gate)
    log = dine(connect(server), Rules(5, 5, order=order), tmp_path)
    assert "strict" in (sample(log).error or log.error or pytest.fail("there is no error")).message
    assert record(sample(log)).rounds == ()
    assert log.status == "error"
    assert not sample(log).scores


@pytest.mark.sampled(1)
@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
def test_an_episode_that_failed_is_counted_and_the_others_scored(serve: Serve, tmp_path: Path, order: Order) -> None:
    rules = Rules(3, 6, order=order)
    server = serve(Failing(player("odd_even"), {(2, 3): LASTING["no choices"]}, range(1, 2)))
    log = dine(connect(server), rules, tmp_path, episodes=3, fail_on_error=False, max_samples=1)
    assert log.status == "success"
    assert log.results is not None
    assert (log.results.total_samples, log.results.completed_samples) == (3, 2)
    assert {score.scored_samples for score in log.results.scores} == {2}
    first, failed, last = samples(log)
    assert [record(one) for one in (first, last)] == [undisturbed(one, rules, "odd_even") for one in (first, last)]
    assert failed.error is not None
    assert cut_after(failed, rules, 2) == "cut: error (RuntimeError)"
    per_size = metrics(log, "throughput")
    eaten = [one.scores["throughput"].as_float() for one in (first, last) if one.scores]
    assert per_size["n03_episodes"] == 2
    assert per_size["n03"] == pytest.approx(sum(eaten) / 2)


def metrics(log: EvalLog, name: str) -> dict[str, float]:
    """The metrics of one score."""
    assert log.results is not None
    return {
        key: metric.value for score in log.results.scores if score.name == name for key, metric in score.metrics.items()
    }


def test_a_failed_episode_that_is_scored_all_the_same_has_no_score(serve: Serve, tmp_path: Path) -> None:
    """With `--score-on-error`, a game that broke off before anybody could lock would score as one without deadlock."""
    server = serve(Failing(player("odd_even"), {(2, 3): LASTING["no choices"]}))
    log = dine(connect(server), Rules(3, 6), tmp_path, fail_on_error=False, score_on_error=True)
    scores = sample(log).scores or {}
    assert len(scores) == 10
    assert all(isnan(score.as_float()) for score in scores.values())
    assert unscored(log) == {1}


def test_an_episode_tried_again_is_the_same_game(serve: Serve, tmp_path: Path) -> None:
    server = serve(Failing(player("odd_even"), {(2, 3): LASTING["a body that breaks off"]}, range(2)))
    tried = sample(dine(connect(server), Rules(3, 6), tmp_path, retry_on_error=2))
    assert tried.error is None
    assert len(tried.error_retries or []) == 2
    assert record(tried) == undisturbed(tried, Rules(3, 6), "odd_even")


@pytest.mark.slow
@pytest.mark.parametrize("fail_on_error", [True, False])
def test_eval_retry_completes_a_run_to_the_records_of_an_undisturbed_one(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail_on_error: bool
) -> None:
    monkeypatch.setenv("LOOP_API_KEY", "none")
    rules = Rules(2, 4)
    server = serve(Failing(player("odd_even"), {(1, 3): LASTING["no choices"]}, range(1, 2)))
    broken = eval(
        "inspect_dining/philosophers",
        task_args={"n": 2, "rounds": 4, "episodes": 2},
        model=CHAT,
        model_base_url=server.url,
        fail_on_error=fail_on_error,
        max_samples=1,
        log_dir=str(tmp_path),
        display="none",
    )[0]
    assert (broken.status == "error") is fail_on_error
    mended = read_eval_log(eval_retry(broken, log_dir=str(tmp_path), display="none")[0].location)
    assert mended.status == "success"
    assert [record(one) for one in samples(mended)] == [undisturbed(one, rules, "odd_even") for one in samples(mended)]
    whole = dine(connect(serve(player("odd_even"))), rules, tmp_path, episodes=2)
    assert mended.results is not None
    assert whole.results is not None
    assert mended.results.completed_samples == 2
    assert [score.metrics for score in mended.results.scores] == [score.metrics for score in whole.results.scores]


@pytest.mark.slow
def test_a_seat_that_fails_for_ever_holds_the_table_up_until_a_limit_cuts_the_game(
    serve: Serve, tmp_path: Path
) -> None:
    """Inspect retries a passing fault without end; the others must not play on without the seat."""
    server, dead = serve(player("odd_even")), serve(lambda asked: PASSING["a server error"])
    roles = {"seat_1": connect(dead, max_retries=0)}
    log = dine(connect(server), Rules(3, 6), tmp_path, roles=roles, time_limit=1)
    assert sample(log).limit is not None
    assert record(sample(log)).rounds == ()
    assert {turn_of(asked) for asked in server.asked} == {(0, 1), (2, 1)}
    assert len(dead.asked) > 2
    assert unscored(log) == {1}


def test_a_context_that_overflows_cuts_the_game(serve: Serve, tmp_path: Path) -> None:
    """An overflow that passed for a lost turn would let long games fade into silence."""
    rules = Rules(3, 6)
    overflow = refusal(400, "This model's maximum context length is 4096 tokens.", "context_length_exceeded")
    server = serve(Failing(player("odd_even"), {(1, 4): overflow}))
    log = dine(connect(server), rules, tmp_path, memory="chat")
    assert log.status == "success"
    assert sample(log).error is None
    assert cut_after(sample(log), rules, 3) == "cut: the context of philosopher 1 overflowed"
    assert unscored(log) == {1}


LIMITS: dict[str, tuple[Options, str]] = {
    "tokens": ({"token_limit": 105 * 8}, "token"),
    "turns": ({"turn_limit": 8}, "turn"),
    "money": ({"cost_limit": 8.0}, "cost"),
    "messages": ({"message_limit": 8}, "message"),
}
"""Limits that end a game of three seats within its third round: eight turns are below them, nine are not."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
@pytest.mark.parametrize(("limits", "kind"), LIMITS.values(), ids=LIMITS.keys())
def test_a_limit_in_mid_round_leaves_the_whole_rounds_before_it(
    serve: Serve, tmp_path: Path, order: Order, limits: Options, kind: str
) -> None:
    """A game cut by a limit is a success to Inspect, and was scored with whatever stood there."""
    price = ModelCost(input=10_000, output=0, input_cache_write=0, input_cache_read=0)  # dollars a million tokens
    set_model_info(CHAT, ModelInfo(cost=price))
    rules = Rules(3, 6, order=order)
    log = dine(connect(serve(player("odd_even"))), rules, tmp_path, memory="chat", **limits)
    assert log.status == "success"
    limited = sample(log)
    assert limited.limit is not None
    assert limited.limit.type == kind
    assert cut_after(limited, rules, 2) == f"cut: {kind} limit"
    assert unscored(log) == {1}
    assert log.results is not None
    assert all(isnan(metric.value) for score in log.results.scores for metric in score.metrics.values())


@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
@pytest.mark.parametrize(("limits", "kind"), [(Options(time_limit=1), "time"), (Options(working_limit=1), "working")])
def test_time_that_runs_out_while_a_seat_is_asked_leaves_the_whole_rounds_before(
    serve: Serve, tmp_path: Path, order: Order, limits: Options, kind: str
) -> None:
    """Time is the one limit that Inspect enforces from outside: it cancels whoever waits."""
    rules = Rules(3, 6, order=order)
    log = dine(connect(serve(Failing(player("odd_even"), {(1, 2): Fault(after=60)}))), rules, tmp_path, **limits)
    limited = sample(log)
    assert limited.limit is not None
    assert limited.limit.type == kind
    played = len(record(limited).rounds)
    assert played < 2
    assert cut_after(limited, rules, played) in {"cut: stopped", f"cut: {kind} limit"}
    assert unscored(log) == {1}


def test_a_mean_over_cut_and_whole_games_is_that_of_the_whole_ones_also_when_read_again(
    serve: Serve, tmp_path: Path
) -> None:
    """A score that is not a number came back from the log as 0, or broke the sums of those that are."""
    rules = Rules(3, 6)
    overflow = refusal(400, "Too long.", "context_length_exceeded")
    server = serve(Failing(player("odd_even"), {(0, 3): overflow}, range(1, 2)))
    log = dine(connect(server), rules, tmp_path, episodes=3, max_samples=1)
    first, cut, last = samples(log)
    assert not record(cut).complete
    assert unscored(log) == {1}
    eaten = [one.scores["throughput"].as_float() for one in (first, last) if one.scores]
    found = metrics(log, "throughput")
    assert found["n03_episodes"] == 2
    assert found["n03"] == pytest.approx(sum(eaten) / 2)
    again = read_eval_log(log.location)
    recompute_metrics(again)
    assert {name: metrics(again, name) for name in (first.scores or {})} == {
        name: metrics(log, name) for name in (first.scores or {})
    }


@pytest.mark.slow
def test_on_the_command_line_a_broken_run_says_so_and_eval_retry_completes_it(serve: Serve, tmp_path: Path) -> None:
    rules = Rules(2, 4)
    server = serve(Failing(player("odd_even"), {(1, 3): LASTING["no choices"]}, range(1, 2)))
    inspect = str(Path(sys.executable).with_name("inspect"))
    run = [inspect, "eval", "inspect_dining/philosophers", "-T", "n=2", "-T", "rounds=4", "-T", "episodes=2"]
    model = ["--model", CHAT, "--model-base-url", server.url, "--max-samples", "1", "--no-fail-on-error"]
    common = ["--log-dir", str(tmp_path), "--display", "plain"]
    environment = os.environ | {"LOOP_API_KEY": "none"}
    first = subprocess.run([*run, *model, *common], env=environment, capture_output=True, text=True, check=True)
    assert "no choices" in first.stdout + first.stderr
    (broken,) = tmp_path.glob("*.eval")
    assert [one.error is None for one in samples(read_eval_log(str(broken)))] == [True, False]
    subprocess.run([inspect, "eval-retry", str(broken), *common], env=environment, capture_output=True, check=True)
    (mended,) = set(tmp_path.glob("*.eval")) - {broken}
    eaten = samples(read_eval_log(str(mended)))
    assert [record(one) for one in eaten] == [undisturbed(one, rules, "odd_even") for one in eaten]
