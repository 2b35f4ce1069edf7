"""`check`: a model that is ready, one that calls no tool, and one that cannot be made."""

import pytest
from click.testing import CliRunner

from inspect_dining.cli.main import main
from inspect_dining.errors import BadInput
from inspect_dining.planning.check import check_model


def test_a_model_whose_calls_are_read_is_ready_and_one_that_is_silent_is_told_what_helps() -> None:
    done = CliRunner().invoke(main, ["check", "dining/odd_even", "dining/silent", "--n", "5", "--episodes", "10"])
    assert done.exit_code == 1
    assert "dining/odd_even: ready" in done.stdout
    assert "24 turns in 2 games of 3 seats were read as: 24 action." in done.stdout
    assert "dining/silent: NOT ready" in done.stdout
    assert "First lost reply (no_call): I say nothing." in done.stdout
    assert "tool-call parser" in done.stdout
    assert "at most 1,500 calls" in done.stdout


def test_a_model_that_cannot_be_made_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(BadInput, match="nosuch/x cannot be used: Model API nosuch"):
        check_model("nosuch/x")
    with pytest.raises(BadInput, match="OPENAI_API_KEY") as refused:
        check_model("openai/gpt-5")
    assert "[bold]" not in refused.value.message
