"""Whole runs: killed at any moment they go on to the same weights; what is wrong is said before anything is lost."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
import torch
from peft import AutoPeftModelForCausalLM, PeftModel
from transformers import AutoModelForCausalLM

from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.scorers.terms import Terms
from inspect_dining.table import Record
from inspect_dining.training.keep import checkpoints
from inspect_dining.training.keep.checkpoints import weights_hash
from inspect_dining.training.keep.run_directory import MetricsRow, RunDir
from inspect_dining.training.learn.credit.sources import Credited
from inspect_dining.training.learn.objective import Group
from inspect_dining.training.play.loading import load
from inspect_dining.training.recipe import TINY, Recipe, checked
from inspect_dining.training.run import Run
from inspect_dining.training.selection import table_of
from tests.training.runs import Silent, account, small, trained


def _child(work: Callable[[], object]) -> None:
    torch.set_num_threads(1)
    work()


def killed_after(seconds: float, work: Callable[[], object]) -> bool:
    """Runs work in a child process and kills it; says whether it was still at work."""
    child = multiprocessing.get_context("fork").Process(target=_child, args=(work,))
    child.start()
    child.join(seconds)
    alive = child.is_alive()
    if alive:
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
    return alive


def assert_survives_kills(recipe: Recipe, tmp_path: Path, kills: int, seed: int) -> None:
    whole_path = tmp_path / "whole"
    started = time.monotonic()
    assert not killed_after(600, partial(trained, recipe, whole_path))
    length = time.monotonic() - started
    whole = account(RunDir(whole_path))
    rng, done, number = random.Random(seed), 0, 0
    while done < kills:
        path = tmp_path / f"killed-{number}"
        number += 1
        while done < kills:
            begun = (path / "recipe.yaml").exists()
            if not killed_after(rng.uniform(0.02, 1.0) * length, partial(trained, recipe, path, begun)):
                break
            done += 1
        if not (path / "recipe.yaml").exists():
            continue
        trained(recipe, path, resume=True)
        assert account(RunDir(path)) == whole


@pytest.mark.slow
@pytest.mark.parametrize("rank", [4, 0])
def test_a_run_killed_at_random_moments_goes_on_to_the_same_weights(speaker: Path, tmp_path: Path, rank: int) -> None:
    """State written in pieces, a metric twice, or a checkpoint half there would show here."""
    assert_survives_kills(small(speaker, lora_rank=rank), tmp_path, kills=2 if rank else 1, seed=rank)


@pytest.mark.slow
def test_a_run_killed_at_twenty_random_moments_goes_on_to_the_same_weights(speaker: Path, tmp_path: Path) -> None:
    assert_survives_kills(small(speaker, lora_rank=4, steps=6, save_every=2), tmp_path, kills=20, seed=3)


@pytest.mark.slow
def test_the_same_recipe_gives_the_same_run_and_another_seed_another(speaker: Path, tmp_path: Path) -> None:
    one, two = (account(trained(small(speaker), tmp_path / name)) for name in "ab")
    assert one == two
    other = account(trained(small(speaker, seed=2), tmp_path / "c"))
    assert other["hashes"] != one["hashes"]


def test_training_moves_the_weights_and_step_0_is_the_base(speaker: Path, tmp_path: Path) -> None:
    directory = trained(small(speaker), tmp_path / "run")
    hashes = account(directory)["hashes"]
    assert isinstance(hashes, dict)
    assert list(hashes) == ["step-0000", "step-0002", "step-0004"]
    assert len(set(hashes.values())) == 3
    base, _ = load(str(speaker))
    first, _ = load(str(directory.checkpoint(0)))
    state = first.state_dict()
    assert all((weights == state[name]).all() for name, weights in base.state_dict().items())


def says(model: Callable[..., object]) -> torch.Tensor:
    """A model's logits for some prompt."""
    with torch.no_grad():
        logits = getattr(model(input_ids=torch.tensor([[5, 6, 7, 300]])), "logits", None)
    assert isinstance(logits, torch.Tensor)
    return logits


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 4])
def test_a_checkpoint_loads_with_the_weights_it_was_saved_with(speaker: Path, tmp_path: Path, rank: int) -> None:
    directory = RunDir(tmp_path / "run")
    run = Run(small(speaker, lora_rank=rank, steps=2), directory, Silent())
    run.train()
    expected = says(run.model)
    assert torch.allclose(says(load(str(directory.last))[0]), expected, atol=1e-5)
    assert torch.allclose(says(AutoModelForCausalLM.from_pretrained(directory.last)), expected, atol=1e-5)
    assert (directory.last / "README.md").read_text().startswith("---\nlibrary_name:")


@pytest.mark.slow
def test_adapters_load_in_plain_libraries_from_anywhere_and_in_a_run_that_was_moved(
    speaker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Adapters of the tiny model named their base from where they lay, and PEFT looks from where it is started."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(speaker, "run/base")
    run = Run(small(Path(TINY), lora_rank=4, steps=2), RunDir(Path("run")), Silent())
    run.train()
    monkeypatch.chdir(speaker)
    adapter, expected = tmp_path / "run" / "last", says(run.model)
    base = AutoModelForCausalLM.from_pretrained(speaker)
    assert not torch.allclose(says(base), expected, atol=1e-3)
    assert torch.allclose(says(AutoModelForCausalLM.from_pretrained(adapter)), expected, atol=1e-5)
    assert torch.allclose(says(AutoPeftModelForCausalLM.from_pretrained(adapter)), expected, atol=1e-5)
    assert torch.allclose(says(PeftModel.from_pretrained(base, str(adapter))), expected, atol=1e-5)
    (tmp_path / "run").rename(tmp_path / "moved")
    assert torch.allclose(says(load(str(tmp_path / "moved" / "last"))[0]), expected, atol=1e-5)


@pytest.mark.slow
def test_only_the_adapters_are_trained_under_lora(speaker: Path, tmp_path: Path) -> None:
    run = Run(small(speaker, lora_rank=4, steps=1), RunDir(tmp_path / "run"), Silent())
    trained_names = [name for name, p in run.model.named_parameters() if p.requires_grad]
    assert trained_names
    assert all("lora" in name for name in trained_names)
    frozen = {n: p.detach().clone() for n, p in run.model.named_parameters() if not p.requires_grad}
    run.train()
    assert frozen
    assert all((p == frozen[n]).all() for n, p in run.model.named_parameters() if n in frozen)


@pytest.mark.slow
def test_the_test_games_are_played_with_base_and_result_and_written_down(speaker: Path, tmp_path: Path) -> None:
    directory = RunDir(tmp_path / "run")
    run = Run(small(speaker, keep="last"), directory, Silent())
    run.train()
    outcome = run.test()
    assert outcome.choice.step == 4
    written = json.loads((directory.path / "table.json").read_text())
    assert written == json.loads(json.dumps(table_of(outcome)))
    assert [(row["n"], row["play"]) for row in written["after"]] == [(3, "sampled"), (3, "greedy")]
    train = {int(record.seed) for record in step_records(directory)}
    assert not train & {record.seed for cell in (*outcome.before, *outcome.after) for record in cell.records}


def step_records(directory: RunDir) -> list[Record]:
    import gzip

    files = sorted((directory.path / "records").iterdir())
    return [
        Record.from_json(line) for file in files for line in gzip.decompress(file.read_bytes()).decode().splitlines()
    ]


def spoiled(episode: Terms) -> float:
    """A shaping that breaks where everybody acts."""
    return float("nan") if episode.n == 4 else episode.throughput


@pytest.mark.slow
def test_a_reward_that_is_no_number_names_its_episode_and_loses_nothing(speaker: Path, tmp_path: Path) -> None:
    """NaN would spread from one episode through the baseline into every weight."""
    directory = RunDir(tmp_path / "run")
    run = Run(small(speaker), directory, Silent())
    run.reward = Shaping("spoiled", spoiled)
    with pytest.raises(
        BadInput, match=r"stops at episode 1/2/0/0 \(run/step/group/member\): The shaping spoiled returned nan"
    ):
        run.train()
    assert [row["step"] for row in directory.rows("metrics.jsonl")] == [0, 1]
    assert (directory.checkpoint(2) / "model.safetensors").is_file()
    assert all(torch.isfinite(p).all() for p in load(str(directory.last))[0].parameters())


def test_a_full_disk_leaves_the_checkpoint_that_was_there(
    speaker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A save that dies half way must not leave a folder that looks like a checkpoint."""
    directory = trained(small(speaker, steps=2), tmp_path / "run")
    before = weights_hash(directory.checkpoint(2))
    model, tokenizer = load(str(directory.checkpoint(2)))

    def full(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(tokenizer), "save_pretrained", full)
    with pytest.raises(BadInput, match="No space left"):
        checkpoints.save(directory.checkpoint(2), model, tokenizer, small(speaker), 2)
    assert weights_hash(directory.checkpoint(2)) == before
    assert not [one for one in directory.path.rglob(".*") if one.name != ".lock"]


def test_a_run_does_not_start_over_another(speaker: Path, tmp_path: Path) -> None:
    RunDir(tmp_path).start(small(speaker))
    with pytest.raises(BadInput, match=r"There is a run in .* already; give --resume"):
        Run(small(speaker), RunDir(tmp_path), Silent())


def test_tensorboard_that_is_not_installed_is_said_before_anything_is_made(
    speaker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise accelerate only warns, and the user finds no curves after a night."""
    from inspect_dining.training import run as module

    monkeypatch.setattr(module, "is_tensorboard_available", lambda: False)
    with pytest.raises(BadInput, match="needs TensorBoard: pip install tensorboard"):
        Run(small(speaker, tensorboard=True), RunDir(tmp_path / "run"), Silent())
    assert not (tmp_path / "run").exists()


def test_there_is_nothing_to_go_on_with_in_an_empty_directory(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"There is no run in .*: recipe\.yaml is missing"):
        RunDir(tmp_path).recipe()


def test_a_recipe_comes_back_from_its_run_directory(speaker: Path, tmp_path: Path) -> None:
    recipe = small(speaker, weights=(1, 0.5, 0.3, 0.1), shaping="paper", hint="parity")
    RunDir(tmp_path).start(checked(recipe.model_dump()))
    assert RunDir(tmp_path).recipe() == checked(recipe.model_dump())


@pytest.mark.slow
def test_a_model_that_falls_silent_starts_again_at_half_the_rate(
    speaker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_dining.training import run as module
    from inspect_dining.training.alarms import Alarm

    monkeypatch.setattr(module, "alarms", lambda rows: [Alarm.SILENCE] if len(rows) == 2 else [])
    directory = RunDir(tmp_path / "run")
    run = Run(small(speaker, restarts=1, checkpoint_every=4), directory, Silent())
    started = {name: weights.clone() for name, weights in run.first.items()}
    run.train()
    rows = directory.rows("metrics.jsonl")
    assert [row["restarts"] for row in rows] == [0, 0, 1, 1]
    assert rows[2]["rate"] < 0.6 * rows[1]["rate"]
    assert all((started[name] == weights).all() for name, weights in run.first.items())


class Stopped(Exception):
    """Stands for a kill."""


class StopsAt(Silent):
    """A watcher that stops its run at the end of a step."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at

    def step(self, row: MetricsRow, total: int) -> None:
        if row["step"] == self.at:
            raise Stopped


def interrupted(recipe: Recipe, folder: Path, at: int) -> RunDir:
    """The directory of a run that is stopped at a step and then goes on to its end."""
    with pytest.raises(Stopped):
        Run(recipe, RunDir(folder), StopsAt(at)).train()
    return trained(recipe, folder, resume=True)


@pytest.mark.slow
def test_a_restart_is_remembered_across_a_kill(speaker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resumed run that forgot its restart would train on at the full rate, on the games of another stage."""
    from inspect_dining.training import run as module
    from inspect_dining.training.alarms import Alarm

    monkeypatch.setattr(module, "alarms", lambda rows: [Alarm.SILENCE] if len(rows) == 3 else [])
    recipe = small(speaker, restarts=1, steps=7, checkpoint_every=7, save_every=1)
    whole = account(trained(recipe, tmp_path / "whole"))
    assert account(interrupted(recipe, tmp_path / "killed", 5)) == whole
    assert [row["stage"] for row in RunDir(tmp_path / "whole").rows("metrics.jsonl")] == [0, 0, 1, 0, 0, 1, 1]


class Drifting:
    """A source of credit that learns: its baseline is the mean of all rewards that it has seen."""

    def __init__(self) -> None:
        self.seen, self.total = 0, torch.zeros(1)

    def assign(self, groups: Sequence[Group]) -> Credited:
        baseline = float(self.total) / max(1, self.seen)
        for group in groups:
            self.seen += len(group.rewards)
            self.total += sum(group.rewards)
        advantages = [
            [
                [reward - baseline + 0.01 * i for i in range(len(episode.turns))]
                for episode, reward in zip(group.episodes, group.rewards, strict=True)
            ]
            for group in groups
        ]
        return Credited(advantages, {"baseline": baseline})

    def state(self) -> dict[str, object]:
        return {"seen": self.seen, "total": self.total}

    def load_state(self, state: dict[str, object]) -> None:
        seen, total = state["seen"], state["total"]
        assert isinstance(seen, int)
        assert isinstance(total, torch.Tensor)
        self.seen, self.total = seen, total

    def forget(self) -> None:
        self.seen, self.total = 0, torch.zeros(1)


@pytest.mark.slow
def test_a_source_of_credit_that_learns_is_resumed_with_what_it_had_learned(
    speaker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A critic that began anew after a kill would weigh every later step otherwise."""
    from inspect_dining.training import engines

    monkeypatch.setattr(engines, "choose_credit", lambda parts: Drifting())
    recipe = small(speaker, save_every=2)
    whole = account(trained(recipe, tmp_path / "whole"))
    assert account(interrupted(recipe, tmp_path / "killed", 3)) == whole
    baselines = [row["baseline"] for row in RunDir(tmp_path / "whole").rows("metrics.jsonl")]
    assert baselines[0] == 0
    assert len(set(baselines)) == 4
