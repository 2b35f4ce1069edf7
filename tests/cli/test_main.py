"""The command line: every verb is there, loads only its own room, and fails with a sentence."""

import json
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from inspect_dining.cli import main as cli
from inspect_dining.cli.main import VERBS, main


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=120)


def test_the_package_runs_as_a_module_and_names_every_verb() -> None:
    done = python("-m", "inspect_dining", "--help")
    assert done.returncode == 0
    assert "python -m inspect_dining" in done.stdout
    for name, verb in VERBS.items():
        assert any(line.split()[:1] == [name] and verb.help in line for line in done.stdout.splitlines())


def test_help_and_version_load_no_room() -> None:
    """With rooms loaded for their one-line help, `--help` would take Inspect and pandas and seconds."""
    code = (
        "import json, sys\n"
        "from inspect_dining.cli.main import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "rooms = [m for m in sys.modules if m.startswith('inspect_dining.')]\n"
        "heavy = [m for m in ('inspect_ai', 'scipy', 'rich', 'matplotlib', 'pandas', 'torch') if m in sys.modules]\n"
        "print(json.dumps([rooms, heavy]), file=sys.stderr)"
    )
    rooms, heavy = json.loads(python("-c", code).stderr)
    quick = ("border", "cli", "cli.main", "errors")
    assert set(rooms) <= {f"inspect_dining.{name}" for name in quick}
    assert not heavy


@pytest.mark.slow
def test_the_audit_loads_neither_inspect_nor_matplotlib() -> None:
    code = (
        "import json, sys\n"
        "from inspect_dining.cli.main import main\n"
        "main(['audit', '--rounds', '5', '--episodes', '2'], standalone_mode=False)\n"
        "heavy = [m for m in ('inspect_ai', 'langgraph', 'matplotlib', 'pandas', 'torch') if m in sys.modules]\n"
        "print(json.dumps(heavy), file=sys.stderr)"
    )
    assert json.loads(python("-c", code).stderr.splitlines()[-1]) == []


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_has_a_command_with_help(name: str) -> None:
    done = CliRunner().invoke(main, [name, "--help"])
    assert done.exit_code == 0, done.output
    assert f"inspect_dining {name}" in done.output or f"main {name}" in done.output
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name


def test_a_verb_that_is_none_is_refused() -> None:
    done = CliRunner().invoke(main, ["adit"])
    assert done.exit_code == 2
    assert "No such command 'adit'" in done.stderr


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("n=1 is not accepted."), "n=1 is not accepted."),
        (FileNotFoundError(2, "No such file or directory", "x.eval"), "No such file or directory: 'x.eval'"),
        (ModuleNotFoundError("No module named 'pandas'", name="pandas"), "pip install 'inspect-dining[analysis]'"),
    ],
)
def test_what_a_verb_cannot_accept_is_a_sentence_and_no_traceback(
    error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise error

    monkeypatch.setattr(cli.Rooms, "get_command", lambda *_: click.Command("plan", callback=fails))
    done = CliRunner().invoke(main, ["plan"])
    assert done.exit_code == 1
    assert not done.stdout
    assert sentence in done.stderr
    assert done.stderr.startswith("Error: ")


def test_a_fault_of_our_own_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise KeyError("seat")

    monkeypatch.setattr(cli.Rooms, "get_command", lambda *_: click.Command("plan", callback=fails))
    assert isinstance(CliRunner().invoke(main, ["plan"]).exception, KeyError)
