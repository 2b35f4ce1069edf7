"""Several processes do the arithmetic of one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.play.loading import load

ARGUMENTS = (
    "--recipe=quick", "--steps=2", "--groups=3", "--episodes=3", "--stages=3x5", "--pairs=0", "--updates=1",
    "--entropy=0", "--diversity=0.5", "--checkpoint-every=2", "--select-sizes=3", "--select-rounds=5",
    "--select-episodes=2",
    "--test-sizes=3", "--test-rounds=5", "--test-episodes=2", "--log-episodes=0", "--no-beside", "--rate=1e-4",
    "--rate-last=1e-4",
)  # fmt: skip


CONFIG = Path(__file__).parents[2] / "examples" / "accelerate" / "ddp-cpu.yaml"


def launched(processes: int, model: Path, out: Path, *more: str, sharded: bool = False) -> RunDir:
    launch = ["-m", "accelerate.commands.launch", f"--config_file={CONFIG}", f"--num_processes={processes}"]
    launch = launch if processes > 1 else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_FSDP": str(sharded).lower()}
    arguments = [sys.executable, *launch, "-m", "inspect_dining.training", *ARGUMENTS, *more]
    subprocess.run([*arguments, f"--model={model}", f"--out={out}"], check=True, env=environment, timeout=1200)
    # accelerate's own --cpu starts one process, whatever number is asked for.
    assert json.loads((out / "environment.json").read_text(encoding="utf-8"))["processes"] == processes
    return RunDir(out)


@pytest.mark.slow
def test_two_processes_play_the_games_of_one_and_end_near_its_weights(speaker: Path, tmp_path: Path) -> None:
    """Gradients averaged instead of summed, or groups counted by each process alone, would halve every step."""
    one, two = launched(1, speaker, tmp_path / "one"), launched(2, speaker, tmp_path / "two")
    for name in ("reward", "deadlock", "efficiency", "dead_groups"):
        first = [directory.rows("metrics.jsonl")[0][name] for directory in (one, two)]
        assert first[0] == pytest.approx(first[1])
    base, single, double = (load(str(path))[0].state_dict() for path in (speaker, one.last, two.last))
    for name, weights in base.items():
        moved = (single[name] - weights).abs().max()
        assert torch.allclose(single[name], double[name], atol=0.05 * float(moved) + 1e-7)
    gradients = [directory.rows("metrics.jsonl")[0]["gradient"] for directory in (one, two)]
    assert gradients[0] == pytest.approx(gradients[1], rel=1e-3)


@pytest.mark.slow
def test_two_processes_with_sharded_weights_end_with_the_adapters_of_one(speaker: Path, tmp_path: Path) -> None:
    """In play, training, selection and saving; a pass that only one of them makes would hang both for ever."""
    lora = "--lora-rank=4"
    one = launched(1, speaker, tmp_path / "one", lora)
    two = launched(2, speaker, tmp_path / "two", lora, sharded=True)
    single, double = (load_file(run.last / "adapter_model.safetensors") for run in (one, two))
    assert single.keys() == double.keys()
    first = load_file(one.checkpoint(0) / "adapter_model.safetensors")
    for name, weights in single.items():
        moved = float((weights - first[name]).abs().max())
        assert torch.allclose(weights, double[name], atol=0.05 * moved + 1e-7)
    selected = [[row["mean"] for row in run.rows("selection.jsonl")][:1] for run in (one, two)]
    assert selected[0] == pytest.approx(selected[1])
