"""`examples/paper_table.py`: it counts before it plays, goes on where it stopped, and asks each system as it should."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner, Result
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from inspect_dining.planning import presets as room
from inspect_dining.planning.presets import Presets, presets
from tests.providers import server as wire
from tests.providers.server import Failing, Fault, ModelServer, player, refusal
from tests.providers.wires import ChatCompletions

EXAMPLE = Path(__file__).parents[2] / "examples" / "paper_table.py"
SMALL = ("--n", "3", "--episodes", "2", "--rounds", "3", "--display", "none", "--retries", "0")
Play = Callable[..., Result]


@pytest.fixture
def table() -> ModuleType:
    spec = importlib.util.spec_from_file_location("paper_table", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def play(table: ModuleType, tmp_path: Path) -> Play:
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(table.main, [*arguments, "--log-dir", str(tmp_path / "table")])

    return run


def logs(folder: Path) -> dict[str, EvalLog]:
    """The logs of a folder by model; there must be one of each."""
    read = [read_eval_log(info) for info in list_eval_logs(str(folder))]
    assert len({log.eval.model for log in read}) == len(read)
    return {log.eval.model: log for log in read}


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.eval")}


def test_a_dry_run_counts_first_and_a_second_one_plays_nothing(play: Play, tmp_path: Path) -> None:
    """A table that starts anew each time never gets done."""
    folder = tmp_path / "table-dry-run"
    first = play("--dry-run", "--n", "3,4", "--rounds", "3", "--display", "none")
    assert first.exit_code == 0, first.output
    assert first.stdout.startswith("3 models, 6 games, at most 63 model calls,\nless those that lie in ")
    assert set(logs(folder)) == {"dining/odd_even", "dining/left_first", "dining/silent"}
    assert all(log.status == "success" and log.eval.dataset.samples == 2 for log in logs(folder).values())
    before = written(folder)
    again = play("--dry-run", "--n", "3,4", "--rounds", "3", "--display", "none")
    assert again.exit_code == 0, again.output
    assert written(folder) == before
    assert not (tmp_path / "table").exists()


@pytest.mark.parametrize(
    "then", ["dining/silent", pytest.param("dining/odd_even,dining/silent", marks=pytest.mark.slow)]
)
def test_a_model_can_be_added_and_only_it_is_played(play: Play, tmp_path: Path, then: str) -> None:
    """Inspect itself refuses a folder with the log of a model that is not named again."""
    assert play("--models", "dining/odd_even", *SMALL).exit_code == 0
    before = written(tmp_path / "table")
    done = play("--models", then, *SMALL)
    assert done.exit_code == 0, done.output
    after = written(tmp_path / "table")
    assert len(after) == 2
    assert before.items() <= after.items()


def test_other_games_in_the_same_folder_are_refused(play: Play, tmp_path: Path) -> None:
    """Inspect adds their logs to those that are there, and the table is one of two experiments."""
    assert play("--models", "dining/silent", *SMALL).exit_code == 0
    before = written(tmp_path / "table")
    for changed, said in (
        (("--episodes", "3"), "episodes=2, not 3"),
        (("--rounds", "4"), "rounds=3, not 4"),
        (("--n", "3,4"), "n=[3], not [3, 4]"),
    ):
        done = play("--models", "dining/silent", *SMALL, *changed)
        assert done.exit_code == 1
        assert f"holds games played with {said}: give the same options as then, or another --log-dir." in done.stderr
        assert written(tmp_path / "table") == before


def served(server: ModelServer, monkeypatch: pytest.MonkeyPatch, table: ModuleType) -> None:
    """Lets every system with a server ask this one, under names of its own: Inspect keeps one URL for each name."""
    told = presets().model_dump(mode="json")
    for system in told["systems"]:
        for way in system["ways"]:
            if way["url"]:
                base, colon, adapter = way["model"].partition(":")
                way.update(model=f"{base}-{server.server_port}{colon}{adapter}", url=server.url)
    moved = Presets.model_validate(told)
    monkeypatch.setattr(table, "presets", lambda: moved)


@pytest.mark.slow
def test_a_game_that_failed_is_played_again_and_no_other(
    play: Play, table: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = Failing(player("wave"), {(1, 2): refusal(400, "No.")}, range(1))
    with ModelServer(ChatCompletions(), fault) as server:
        served(server, monkeypatch, table)
        first = play("--models", "Qwen3-8B", *SMALL)
        assert first.exit_code == 1
        assert "the same command plays them again, and only them" in first.stderr
        (failed,) = logs(tmp_path / "table").values()
        done = [sample for sample in failed.samples or [] if not sample.error]
        assert len(done) == 1
        asked = len(server.asked)
        second = play("--models", "Qwen3-8B", *SMALL)
        assert second.exit_code == 0, second.output
        assert len(server.asked) - asked == 3 * 3
        (log,) = logs(tmp_path / "table").values()
        assert sorted(str(sample.id) for sample in log.samples or []) == ["n03-s0-e000", "n03-s0-e001"]
        assert {done[0].uuid} < {sample.uuid for sample in log.samples or []}
        assert not server.errors


@pytest.mark.slow
def test_a_model_and_its_adapter_are_asked_by_name_and_told_not_to_think(
    play: Play, table: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adapter goes by its own name on the wire; asked by the base model's, the base would play in its place."""

    def models(handler: "wire._Handler") -> None:
        handler._send(Fault(body=json.dumps({"object": "list", "data": [{"id": "grpo"}]})))

    monkeypatch.setattr(wire._Handler, "do_GET", models)
    with ModelServer(ChatCompletions(), player("wave")) as server:
        served(server, monkeypatch, table)
        done = play("--models", "Qwen3-14B,qwen3-14b + grpo", "--no-thinking", *SMALL)
        assert done.exit_code == 0, done.output
        names = {str(asked.body["model"]) for asked in server.asked}
        assert names == {f"Qwen/Qwen3-14B-{server.server_port}", "grpo"}
        assert all(asked.body["chat_template_kwargs"] == {"enable_thinking": False} for asked in server.asked)
        assert all(asked.body["tool_choice"] == "auto" for asked in server.asked)
        assert not server.errors


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--models", "Qwen4"),
            "'Qwen4' is no system of the paper and no model such as openai/gpt-5; there are:",
        ),
        (("--models", "GPT-5.4"), "GPT-5.4 cannot be asked: "),
        (("--n", "x"), "--n x is not accepted"),
        (("--n", "1"), "n=1"),
    ],
)
def test_what_cannot_be_played_is_a_sentence_before_any_game(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = play(*arguments, "--display", "none")
    assert done.exit_code == 1
    assert sentence in done.stderr
    assert not (tmp_path / "table").exists()


def test_the_presets_of_the_example_are_those_of_the_package(table: ModuleType) -> None:
    assert table.presets is room.presets
