"""`examples/paper_flow.py`: Inspect Flow expands it to the paper's systems, and plays it with scripted players."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_flow import FlowModel, FlowTask
from inspect_flow.api import load_spec

from inspect_dining.planning.presets import presets

EXAMPLE = Path(__file__).parents[2] / "examples" / "paper_flow.py"

pytestmark = pytest.mark.slow


def test_it_holds_the_ten_systems_of_the_paper_as_their_presets_ask_for_them() -> None:
    for task, system in zip(load_spec(str(EXAMPLE)).tasks or [], presets().systems, strict=True):
        assert isinstance(task, FlowTask)
        model, way = task.model, system.ways[0]
        assert isinstance(model, FlowModel)
        assert model.name == way.model
        assert (model.base_url or None) == way.url
        assert (model.config.extra_body if model.config else None) == way.thinking_off


def test_flow_plays_it_with_scripted_players_and_plays_nothing_twice(tmp_path: Path) -> None:
    programs = Path(sys.executable).parent
    command = [str(programs / "flow"), "run", str(EXAMPLE), "--display", "plain", "--log-dir", str(tmp_path / "logs")]
    command += [part for one in ("players=scripted", "episodes=1", "rounds=4") for part in ("--arg", one)]
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        logs = [read_eval_log(info, header_only=True) for info in list_eval_logs(str(tmp_path / "logs"))]
        assert {(log.eval.model, log.status) for log in logs} == {
            (f"dining/{player}", "success") for player in ("odd_even", "left_first", "silent")
        }
        assert len(logs) == 3
