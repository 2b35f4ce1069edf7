"""The command line: one sentence and a non-zero exit for what is wrong; a whole small session for what is right."""

from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from transformers import AutoTokenizer

from inspect_dining.training.__main__ import main
from inspect_dining.training.recipe import Recipe

SMALL = (
    "--steps=2", "--groups=2", "--episodes=3", "--stages=3x5", "--pairs=30", "--checkpoint-every=2",
    "--select-sizes=3", "--select-rounds=5", "--select-episodes=2", "--test-sizes=3", "--test-rounds=5",
    "--test-episodes=2", "--log-episodes=1",
)  # fmt: skip


def said(arguments: Sequence[str]) -> Result:
    return CliRunner().invoke(main, list(arguments))


def refused(arguments: Sequence[str], sentence: str) -> None:
    result = said(arguments)
    assert result.exit_code == 1
    assert sentence in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_every_key_of_a_recipe_is_a_flag() -> None:
    text = said(["--help"]).output
    missing = [key for key in Recipe.model_fields if key != "name" and f"--{key.replace('_', '-')}" not in text]
    assert missing == []


def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, speaker: Path) -> None:
    refused(["--recipe", "correctd"], "There is no recipe 'correctd'. Did you mean corrected?")
    refused(["--resume"], "--resume needs the directory of the run")
    refused(["--resume", "--out", str(tmp_path)], "recipe.yaml is missing")
    refused(
        ["--resume", "--steps", "3", "--out", str(tmp_path)], "--resume continues with the recipe that the run began"
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    refused([*SMALL, "--model", str(empty), "--out", str(tmp_path / "a")], "holds no model")
    refused([*SMALL, "--model", str(speaker), "--out", "/proc/none/run"], "cannot be written")


def test_a_model_without_a_chat_template_is_refused(tmp_path: Path, speaker: Path) -> None:
    from transformers import AutoModelForCausalLM

    folder = tmp_path / "mute"
    AutoModelForCausalLM.from_pretrained(speaker).save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(speaker)
    tokenizer.chat_template = None
    tokenizer.save_pretrained(folder)
    refused([*SMALL, "--model", str(folder), "--out", str(tmp_path / "run")], "tokenizer has no chat template")
    refused(["template", str(folder)], "tokenizer has no chat template")
    refused(["template", str(tmp_path)], "holds no model")


def test_a_missing_adapter_base_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "../gone"}', encoding="utf-8")
    refused([*SMALL, "--model", str(folder), "--out", str(tmp_path / "run")], "cannot be loaded")


@pytest.mark.parametrize("shaping", ["paper", "meal_gated"])
def test_a_reward_that_fails_its_audit_needs_a_word(shaping: str, tmp_path: Path, speaker: Path) -> None:
    """The paper trained on a reward whose only maximum is silence."""
    path = tmp_path / "run"
    refused(
        [*SMALL, "--model", str(speaker), "--shaping", shaping, "--stages", "5x5", "--out", str(path)],
        "give --accept-audit true to see it happen",
    )
    assert not path.exists()


@pytest.mark.slow
def test_a_whole_session_ends_with_its_table_its_curves_and_its_logs(tmp_path: Path, speaker: Path) -> None:
    path = tmp_path / "run"
    result = said([*SMALL, "--model", str(speaker), "--beside", "--out", str(path)])
    assert result.exit_code == 0, result.output
    assert "Audit: " in result.output
    for name in ("table.json", "curves.png", "metrics.jsonl", "selection.jsonl", "choice.json", "paper/table.json"):
        assert (path / name).is_file()
    assert len(list((path / "logs").glob("*.eval"))) == 4
    assert (path / "best" / "README.md").is_file()
    again = said(["--resume", "--out", str(path), "--no-beside"])
    assert again.exit_code == 0, again.output


def test_every_flag_of_a_recipe_has_a_help_text() -> None:
    missing = [option.opts[0] for option in main.params if isinstance(option, click.Option) and not option.help]
    assert missing == []
