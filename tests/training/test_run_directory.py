"""A run directory has one writer, and is checked before it is believed."""

import json
import multiprocessing
from collections.abc import Callable
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
import torch
import yaml

from inspect_dining.errors import BadInput
from inspect_dining.training.keep.run_directory import SEAL, RunDir, State
from inspect_dining.training.recipe import Recipe


def state(step: int) -> State:
    return State(
        step=step, restarts=0, since=0, weights={"w": torch.ones(3) * step}, optimizer={"state": {}}, credit={}
    )


@pytest.fixture
def saved(tmp_path: Path) -> RunDir:
    """A run of twelve steps that was killed after its state of step 10."""
    directory = RunDir(tmp_path / "run")
    directory.start(Recipe())
    for step in range(12):
        directory.append("metrics.jsonl", {"step": step, "reward": step / 7})
        if step % 5 == 4:
            directory.append("selection.jsonl", {"step": step + 1, "mean": step / 3})
        if step in (4, 9):
            directory.save_state(state(step + 1), Recipe())
    return directory


def test_what_was_saved_is_believed_and_only_the_latest_state_is_kept(saved: RunDir) -> None:
    assert saved.check(Recipe()) == []
    found = saved.state()
    assert found is not None
    assert found["step"] == 10
    assert [file.name for file in saved.path.glob("state*.pt")] == ["state-0010.pt"]
    saved.cut(10)
    assert saved.check(saved.recipe()) == []
    assert len(saved.rows("metrics.jsonl")) == 10


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))


def alter(name: str) -> Callable[[RunDir], None]:
    def change(directory: RunDir) -> None:
        lines = (directory.path / name).read_text(encoding="utf-8").splitlines()
        lines[1] = json.dumps({**json.loads(lines[1]), "reward": 1e9})
        (directory.path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    return change


def overwrite(name: str, text: str) -> Callable[[RunDir], None]:
    def change(directory: RunDir) -> None:
        (directory.path / name).write_text(text, encoding="utf-8")

    return change


DAMAGE: dict[str, tuple[Callable[[RunDir], None], str]] = {
    "a flipped bit in the state": (lambda d: flip(d.path / "state-0010.pt"), "state-0010.pt is not what was saved"),
    "no state": (lambda d: (d.path / "state-0010.pt").unlink(), "state-0010.pt is missing"),
    "an altered metric": (alter("metrics.jsonl"), "metrics.jsonl has changed since"),
    "no metrics": (lambda d: (d.path / "metrics.jsonl").unlink(), "metrics.jsonl has changed since"),
    "no selection": (lambda d: (d.path / "selection.jsonl").unlink(), "selection.jsonl has changed since"),
    "metrics that are no JSON": (
        overwrite("metrics.jsonl", "{\n"),
        "is damaged",
    ),
    "a seal that is no JSON": (overwrite(SEAL, "["), "not JSON"),
    "a seal of something else": (overwrite(SEAL, "{}"), "is damaged"),
}


@pytest.mark.parametrize(("damage", "sentence"), DAMAGE.values(), ids=DAMAGE.keys())
def test_a_directory_that_was_damaged_is_refused(
    saved: RunDir, damage: Callable[[RunDir], None], sentence: str
) -> None:
    """A run once went on from a state with a flipped bit, and without its selection, and nobody said a word."""
    damage(saved)
    with pytest.raises(BadInput, match=sentence):
        saved.check(Recipe())


def test_a_recipe_that_was_changed_is_told_and_needs_consent(saved: RunDir) -> None:
    file = saved.path / "recipe.yaml"
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump({**data, "steps": 999, "rate": 1e-5}), encoding="utf-8")
    with pytest.raises(BadInput, match=r"steps 999 \(was 300\); rate 1e-05 \(was 0.0004\).*--accept-changes"):
        saved.check(saved.recipe())
    (note,) = saved.check(saved.recipe(), accept=True)
    assert "steps 999 (was 300)" in note


def test_a_recipe_from_before_a_key_was_added_is_the_same_recipe(saved: RunDir) -> None:
    seal = json.loads((saved.path / SEAL).read_text(encoding="utf-8"))
    del seal["recipe"]["anchor"]
    (saved.path / SEAL).write_text(json.dumps(seal), encoding="utf-8")
    assert saved.check(Recipe()) == []


def test_another_environment_is_told(saved: RunDir) -> None:
    seal = json.loads((saved.path / SEAL).read_text(encoding="utf-8"))
    seal["environment"]["python"] = "2.7"
    (saved.path / SEAL).write_text(json.dumps(seal), encoding="utf-8")
    (note,) = saved.check(Recipe())
    assert "(was 2.7)" in note


def test_a_state_of_older_runs_is_read_and_one_that_is_none_is_refused(tmp_path: Path) -> None:
    directory = RunDir(tmp_path)
    directory.start(Recipe())
    torch.save(state(3), tmp_path / "state.pt")
    assert directory.check(Recipe()) == []
    found = directory.state()
    assert found is not None
    assert found["step"] == 3
    for made in ([1, 2], {"step": 3}):
        torch.save(made, tmp_path / "state.pt")
        with pytest.raises(BadInput, match="is not a state of a run"):
            directory.state()
    (tmp_path / "state.pt").write_bytes(b"cposix\nsystem\n(S'true'\ntR.")
    with pytest.raises(BadInput, match="is not a state of a run"):
        directory.state()


def _hold(path: Path, held: Event, done: Event) -> None:
    RunDir(path).lock()
    held.set()
    done.wait(60)


@pytest.mark.slow
def test_a_second_writer_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    """Two runs that went on in one folder once both ended well, with every row of the metrics twice."""
    spawn = multiprocessing.get_context("spawn")
    held, done = spawn.Event(), spawn.Event()
    other = spawn.Process(target=_hold, args=(tmp_path, held, done))
    other.start()
    assert held.wait(60)
    with pytest.raises(BadInput, match=rf"is in use by process {other.pid} on .* since 20"):
        RunDir(tmp_path).lock()
    other.kill()
    other.join()
    RunDir(tmp_path).lock()
    RunDir(tmp_path).lock()
    RunDir(tmp_path).release()
    assert not (tmp_path / "lock.json").exists()


def test_a_run_that_another_process_began_and_let_go_of_at_once_is_not_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look for a run and the lock another process may have begun one, and have been killed."""
    directory = RunDir(tmp_path)
    lock = RunDir.lock

    def late(self: RunDir) -> None:
        (tmp_path / "recipe.yaml").write_text("steps: 7\n", encoding="utf-8")
        lock(self)

    monkeypatch.setattr(RunDir, "lock", late)
    with pytest.raises(BadInput, match="There is a run in"):
        directory.start(Recipe())
    assert (tmp_path / "recipe.yaml").read_text(encoding="utf-8") == "steps: 7\n"
    assert not (tmp_path / "lock.json").exists()


def test_what_a_killed_process_had_begun_to_write_is_cleared(tmp_path: Path) -> None:
    half = tmp_path / "checkpoints" / ".step-0004.abcd"
    half.mkdir(parents=True)
    (half / "model.safetensors").write_bytes(b"half")
    (tmp_path / ".metrics.xyz.jsonl").write_bytes(b"half")
    RunDir(tmp_path).lock()
    assert not half.exists()
    assert not (tmp_path / ".metrics.xyz.jsonl").exists()
    RunDir(tmp_path).release()
