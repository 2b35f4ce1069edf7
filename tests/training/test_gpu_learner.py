"""The script that waits for a GPU runs here, small, so that it does not fail there."""

import json
import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu_learner.py"
SMALL = (
    "--hidden=32", "--layers=1", "--heads=2", "--kv-heads=1", "--head-dim=16", "--intermediate=64",
    "--vocabulary=2048", "--rounds=4", "--groups=2", "--episodes=2", "--pairs=20", "--max-tokens=6", "--updates=2",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "counted"), [("8", "4 P a token"), ("0", "6 P a token")])
def test_the_gpu_script_plays_trains_and_writes_its_figures(rank: str, counted: str, tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    main = runpy.run_path(str(SCRIPT))["main"]
    done = CliRunner().invoke(main, [*SMALL, f"--lora-rank={rank}", "--gradient-checkpointing", f"--out={out}"])
    assert done.exit_code == 0, done.output
    figures = json.loads(out.read_text(encoding="utf-8"))
    layer = 32 * 16 * (2 + 1 + 1 + 2) + 3 * 32 * 64 + 2 * 32 + 2 * 16
    assert figures["parameters"] == 2048 * 32 + layer + 32
    assert figures["turns"] == 5 * 4 * 2 * 2
    assert 0 < figures["sampled_tokens"] <= 6 * figures["turns"]
    # About as long as with Qwen3's own tokenizer; the phrases of the tiny model's make it thirty.
    assert 500 < figures["prompt_tokens"] < 900
    assert figures["trained_tokens"] > 2 * 500
    assert figures["operations_counted"] == counted
