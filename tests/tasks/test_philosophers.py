"""The task: its arguments, its refusals, and what its log lets others compute."""

import subprocess
import sys
from math import isinf
from pathlib import Path

import pytest
from inspect_ai import eval
from inspect_ai import score as rescore
from inspect_ai.analysis import samples_df
from inspect_ai.approval import ApprovalPolicy, approval, auto_approver
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import get_model

from inspect_dining.errors import BadInput
from inspect_dining.scorers import scores
from inspect_dining.scorers.catalogue import SCORES
from inspect_dining.table import Rules, best_meals
from inspect_dining.tasks import philosophers
from tests.solvers.harness import run, samples, score

NAMES = (
    "efficiency",
    "no_deadlock",
    "reward",
    "proportional",
    "throughput",
    "meal_variance",
    "idle",
    "jain",
    "starved",
    "lost_turns",
)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    """Three games each at n = 3 and 4, twice."""
    task = philosophers(n="3,4", episodes=3, rounds=6, shaping="paper", throughput="optimum")
    return run(task, "dining/lehmann_rabin", tmp_path_factory.mktemp("logs"), epochs=2)


def metrics(log: EvalLog, scorer: str) -> dict[str, float]:
    """The metrics of one scorer."""
    assert log.results is not None
    return {m.name: float(m.value) for s in log.results.scores if s.name == scorer for m in s.metrics.values()}


@pytest.mark.slow
def test_the_intervals_of_a_log_end_where_those_of_the_analysis_do(log: EvalLog) -> None:
    """The two are written apart: the one is for Inspect's table, the other reads records."""
    assert log.results is not None
    ends = {s.name: next(m.params for m in s.metrics.values() if m.name == "n03") for s in log.results.scores}
    for name, outcome in SCORES.items():
        assert (ends[name].get("least"), ends[name].get("most")) == tuple(
            None if isinf(end) else end for end in (outcome.least, outcome.most)
        ), name


def test_the_default_is_the_paper_sizes_and_says_what_it_costs(capsys: pytest.CaptureFixture[str]) -> None:
    task = philosophers()
    assert len(task.dataset) == 90
    assert "90 games (n = 5, 10, 15), at most 27,000 model calls an epoch." in capsys.readouterr().err


@pytest.mark.parametrize("n", [[3, 4], (3, 4), "3,4", "3, 4"])
def test_sizes_come_as_lists_commas_or_single_values(n: object) -> None:
    assert [s.id for s in philosophers(n=n, episodes=1).dataset] == ["n03-s0-e000", "n04-s0-e000"]  # type: ignore[arg-type]
    assert [s.id for s in philosophers(n=3, episodes=2, seed=5).dataset] == ["n03-s5-e000", "n03-s5-e001"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"n": 1}, "n=1 is not accepted: n must be a whole number from 2 to 100"),
        ({"n": True}, "n=True is not accepted"),
        ({"n": "5,x"}, "n='5,x' is not accepted"),
        ({"n": "5,5"}, "names a number twice"),
        ({"n": []}, "is not accepted"),
        ({"rounds": 2}, "rounds=2 is not accepted: rounds must be a whole number from 3 to 1,000"),
        ({"rounds": "many"}, "rounds='many' is not accepted"),
        ({"episodes": 0}, "episodes=0 is not accepted"),
        ({"seed": -1}, "seed=-1 is not accepted"),
        ({"order": "reverse"}, "order='reverse' is not known; accepted: simultaneous, sequential"),
        ({"order": True}, "order=True is not known"),
        ({"release": "never"}, "release='never' is not known; accepted: auto, manual"),
        ({"ties": "high"}, "ties='high' is not known; accepted: random, rotate, lowest"),
        ({"patience": 0}, "patience=0 is not accepted"),
        ({"hint": "seat"}, "hint='seat' is not known; accepted: none, parity, coin"),
        ({"memory": "talk"}, "memory='talk' is not accepted"),
        ({"memory": -1}, "memory=-1 is not accepted"),
        ({"memory": True}, "memory=True is not accepted"),
        ({"rescue": "yes"}, "rescue='yes' is not accepted: give true or false"),
        ({"shaping": "papr"}, "There is no shaping 'papr'. Did you mean paper?"),
        ({"shaping": True}, "shaping=True"),
        ({"shaping": "proportional", "throughput": "optimum"}, "takes no weights, throughput or variance"),
        ({"throughput": "max"}, "throughput='max' is not known; accepted: seat_rounds, optimum"),
        ({"variance": "both"}, "variance='both' is not known; accepted: population, sample"),
        ({"weights": "1,2"}, "four finite numbers are expected"),
        ({"weights": "1,2,3,x"}, "is not accepted: give numbers"),
        ({"philosopher": "nowhere:graph"}, "cannot be imported"),
        ({"philosopher": 7}, "philosopher=7"),
        ({"episode": 3}, "has no argument 'episode'. Did you mean episodes?"),
        ({"toasts": 1}, "has no argument 'toasts'. Accepted: n, episodes, rounds"),
    ],
)
def test_what_is_not_accepted_gets_one_sentence(arguments: dict[str, object], told: str) -> None:
    with pytest.raises(BadInput) as refused:
        philosophers(**arguments)  # type: ignore[arg-type]
    assert told in str(refused.value)
    assert str(refused.value).endswith((".", "?"))


@pytest.mark.slow
def test_on_the_command_line_a_refusal_is_one_line_and_no_call() -> None:
    command = [sys.executable, "-m", "inspect_ai", "eval", "inspect_dining/philosophers", "--display", "none"]
    ended = subprocess.run(
        [*command, "--model", "dining/wave", "-T", "n=1"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr + ended.stdout
    assert "Error: n=1 is not accepted" in ended.stderr


@pytest.mark.parametrize("role", ["seat_3", "seat_-1", "seat_03", "kant", "seat_"])
def test_a_role_for_no_seat_is_refused(role: str, tmp_path: Path) -> None:
    """A model bound to a seat that no table has would silently never play."""
    with pytest.raises(BadInput, match="There is no seat for the model role"):
        eval(
            "inspect_dining/philosophers",
            model="dining/wave",
            task_args={"n": "5,3"},
            model_roles={role: "dining/hog"},
            log_dir=str(tmp_path),
            display="none",
        )


def test_a_seat_takes_one_model(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="bound to 2 models"):
        eval(
            "inspect_dining/philosophers",
            model="dining/wave",
            model_roles={"seat_0": [get_model("dining/hog"), get_model("dining/think")]},
            log_dir=str(tmp_path),
            display="none",
        )


def test_an_approval_policy_is_refused_before_any_call(tmp_path: Path) -> None:
    """Nothing is executed, so a policy would approve nothing and look as if it had."""
    log = run(philosophers(n=3, episodes=1), "dining/wave", tmp_path, approval=[ApprovalPolicy(auto_approver(), "*")])
    assert log.status == "error"
    assert "nothing to approve" in (samples(log)[0].error or pytest.fail("no error")).message
    assert not log.stats.model_usage
    with approval([ApprovalPolicy(auto_approver(), "*")]), pytest.raises(BadInput, match="nothing to approve"):
        philosophers(n=3)


def test_another_backend_than_asyncio_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_ASYNC_BACKEND", "trio")
    with pytest.raises(BadInput, match="asyncio only"):
        philosophers(n=3)


def test_scores_are_reproduced_from_a_finished_log(log: EvalLog, tmp_path: Path) -> None:
    """Scorers that read live objects score another game, or none, after the run."""
    again = rescore(
        read_eval_log(log.location),
        [getattr(scores, name)() if name != "reward" else scores.reward(throughput="optimum") for name in NAMES],
        action="overwrite",
        display="none",
    )
    for before, after in zip(samples(log), samples(again), strict=True):
        assert before.scores is not None
        assert after.scores is not None
        assert {k: v.value for k, v in before.scores.items()} == {k: v.value for k, v in after.scores.items()}
    assert [metrics(again, name) for name in NAMES] == [metrics(log, name) for name in NAMES]


def test_a_data_frame_has_ten_numeric_scores(log: EvalLog) -> None:
    frame = samples_df(log.location)
    assert all(frame[f"score_{name}"].dtype.kind == "f" for name in NAMES)
    assert len(frame) == 12


def test_metrics_tell_each_size_apart_and_count_episodes(log: EvalLog) -> None:
    """Episodes are the unit, also with epochs: six at each size, not three means."""
    efficiency = metrics(log, "efficiency")
    by_size: dict[int, list[float]] = {3: [], 4: []}
    for sample in samples(log):
        by_size[sample.metadata["n"]].append(score(sample, "efficiency"))
    for n, values in by_size.items():
        assert efficiency[f"n{n:02d}"] == pytest.approx(sum(values) / 6)
        assert efficiency[f"n{n:02d}_episodes"] == 6
        assert f"n{n:02d}_low" not in efficiency  # no interval covers at so few games
    assert efficiency["mean"] == pytest.approx(sum(sum(v) for v in by_size.values()) / 12)
    assert "mean" in metrics(log, "lost_turns")
    assert all("mean" not in metrics(log, name) for name in NAMES if name not in ("efficiency", "lost_turns"))


def test_the_log_says_which_reward_and_which_prompt(log: EvalLog) -> None:
    assert log.eval.metadata is not None
    assert log.eval.metadata["reward"] == "paper(throughput=optimum)"
    assert log.eval.task_version == "1-A"
    sample = samples(log)[0]
    assert sample.scores is not None
    told = sample.scores["reward"].explanation or ""
    assert told.startswith("Reward by paper(throughput=optimum)")
    whole = sample.scores["efficiency"].explanation or ""
    assert all(words in whole for words in ("ate in rounds", "lost turns", "eadlock"))
    assert Rules(**sample.metadata["rules"]) == Rules(n=3, rounds=6)
    assert f"/ {best_meals(3, 6).meals} " in whole


@pytest.mark.slow
def test_games_that_went_alike_are_one_observation(tmp_path: Path) -> None:
    """Thirty games of players without chance are one game, whatever their seeds."""
    alike = run(philosophers(n=3, episodes=4, rounds=6), "dining/wave", tmp_path)
    assert metrics(alike, "efficiency")["n03_episodes"] == 4
    assert metrics(alike, "efficiency")["n03_distinct"] == 1


def test_the_headline_is_efficiency(log: EvalLog) -> None:
    assert log.eval.headline_metric is not None
    assert log.results is not None
    assert log.results.scores[0].name == "efficiency"
