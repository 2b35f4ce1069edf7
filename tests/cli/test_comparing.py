"""The verbs compare, report and replay: one sentence for whatever is wrong, and files whole or not at all."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from inspect_ai.log import write_eval_log

from inspect_dining.cli.main import main
from inspect_dining.errors import BadInput
from inspect_dining.files import write
from inspect_dining.table import Rules, play
from tests.analysis.made import run

RULES = Rules(n=3, rounds=8)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs."""
    folder = tmp_path_factory.mktemp("logs")
    for player in ("odd_even", "random"):
        write_eval_log(run(f"dining/{player}", player, RULES, 3), folder / f"{player}.eval")
    return folder


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], env={"COLUMNS": "120"})


def _sentence(result: Result) -> str:
    """The one sentence of a refusal: no traceback, status 1 or 2."""
    assert result.exit_code in (1, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return result.output


def test_compare_prints_tables(logs: Path) -> None:
    result = _run("compare", logs, "--ladder", 5)
    assert result.exit_code == 0
    assert "A dining/odd_even" in result.output
    assert "scripted, 5 games each" in result.output
    assert "B - A" in result.output


@pytest.mark.parametrize(("form", "start"), [("--json", "{"), ("--csv", "n,setup"), ("--latex", "% Needs")])
def test_compare_prints_or_writes_other_forms(logs: Path, tmp_path: Path, form: str, start: str) -> None:
    """Notes go to stderr, so that what is piped on stays readable."""
    result = _run("compare", logs, form, "--ladder", 0)
    assert result.stdout.startswith(start)
    assert "distinct" in result.stderr
    if form == "--json":
        assert json.loads(result.stdout)["primary"] == "efficiency"
    file = tmp_path / "out"
    assert _run("compare", logs, form, "--ladder", 0, "-o", file).exit_code == 0
    assert file.read_text(encoding="utf-8").strip() == result.stdout.strip()


def test_compare_writes_its_tables_as_text(logs: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    result = _run("compare", logs, "--ladder", 0, "-o", file)
    assert result.output == ""
    text = file.read_text(encoding="utf-8")
    assert "A dining/odd_even" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["compare"], "No logs were given"),
        (["compare", "nowhere"], "nowhere does not exist"),
        (["report", "nowhere"], "nowhere does not exist"),
        (["replay", "nowhere"], "nowhere does not exist"),
        (["compare", "LOGS", "--baseline", "gpt"], "names no model"),
        (["compare", "LOGS", "--primary", "deadlocks"], "'deadlocks' is not one of"),
        (["compare", "LOGS", "--throughput", "optimum"], "name one with --shaping"),
        (["compare", "LOGS", "--shaping", "papr"], "Did you mean paper?"),
        (["compare", "LOGS", "--shaping", "paper", "--weights", "1,2"], "four finite numbers"),
        (["compare", "LOGS", "--shaping", "paper", "--weights", "a,b"], "could not convert"),
        (["report", "LOGS", "-o", "/nowhere/x.html"], "there is no folder /nowhere"),
        (["report", "LOGS", "--episode", "n09-s0-e000"], "is in none of the logs"),
        (["replay", "LOGS", "--sample", "n03-s0-e01"], "Did you mean n03-s0-e001"),
        (["replay", "LOGS", "--svg", "/nowhere/x.svg"], "cannot be written"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sentence in _sentence(_run(*(str(logs) if a == "LOGS" else a for a in arguments)))
    assert not list(tmp_path.iterdir()), "nothing half-written is left"


@pytest.mark.slow
def test_report_writes_one_file(logs: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    result = _run("report", logs, "-o", file, "--ladder", 2, "--title", "My dinners")
    assert result.exit_code == 0
    assert f"Wrote {file}" in result.output
    assert "<h1>My dinners</h1>" in file.read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_replay_shows_and_draws(logs: Path, tmp_path: Path) -> None:
    shown = _run("replay", logs / "odd_even.eval", "--sample", "n03-s0-e001")
    assert "dining/odd_even, n03-s0-e001, epoch 1" in shown.output
    file = tmp_path / "game.svg"
    assert _run("replay", logs / "odd_even.eval", "--svg", file).exit_code == 0
    assert file.read_text(encoding="utf-8").startswith("<svg")


def test_replay_reads_a_bare_record(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_text(play(RULES, "wave").to_json(), encoding="utf-8")
    assert "No deadlock in all 8 rounds." in _run("replay", file).output


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """What stood there stays when the new one cannot be written."""
    file = tmp_path / "x"
    write(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write(file, "new \ud800")
    assert file.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    with pytest.raises(BadInput, match="cannot be written"):
        write(tmp_path / "no" / "x", "new")


@pytest.mark.slow
def test_a_killed_run_and_its_retry_are_read(tmp_path: Path) -> None:
    """A real run killed in the middle is compared with a note; after `eval-retry` every episode counts once."""
    inspect = [sys.executable, "-m", "inspect_ai"]
    folder = tmp_path / "logs"
    quiet = {**os.environ, "INSPECT_DISPLAY": "none", "OMP_NUM_THREADS": "1"}
    arguments = ["-T", "n=5", "-T", "episodes=10", "-T", "rounds=12", "--log-dir", str(folder)]
    options = ["--max-samples", "1", "--log-buffer", "1", "--model", "dining/odd_even"]
    command = [*inspect, "eval", "inspect_dining/philosophers", *options, *arguments]
    started = subprocess.Popen(command, env=quiet, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and sum(log.stat().st_size for log in folder.glob("*.eval")) < 30_000:
        time.sleep(0.1)
    started.send_signal(signal.SIGKILL)
    started.wait()
    cut = _run("compare", folder, "--json", "--ladder", 0)
    assert cut.exit_code == 0
    assert "is still being written, or its run was killed" in cut.stderr
    model = json.loads(cut.stdout)["tables"][0]["models"][0]
    assert 0 < model["scored"] < model["planned"] == 10
    (log,) = folder.glob("*.eval")
    subprocess.run([*inspect, "eval-retry", str(log), "--log-dir", str(folder)], env=quiet, check=True, timeout=300)
    whole = _run("compare", folder, "--json", "--ladder", 0)
    model = json.loads(whole.stdout)["tables"][0]["models"][0]
    assert model["scored"] == model["planned"] == 10
    assert "are logs of one run; only the latter counts" in whole.stderr
