"""The format drill on a tiny model: a killed drill comes to the same weights, templates get tools, clear refusals."""

from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.table.rules import Rules
from inspect_dining.training import drill as drilling
from inspect_dining.training.keep.checkpoints import weights_hash
from inspect_dining.training.play.loading import load
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.tiny.model import tiny_model, tiny_tokenizer


class Killed(Exception):
    """Stands for a process that ends."""


@pytest.fixture(scope="module")
def mute(tokenizer: PreTrainedTokenizerBase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a random tiny model, which calls no tool."""
    folder = tmp_path_factory.mktemp("mute")
    tiny_model(tokenizer, seed=3, hidden=16, layers=1).save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return folder


def drilled(model: Path, out: Path, stop: str | None = None) -> tuple[drilling.Drilled, list[str]]:
    said: list[str] = []

    def told(line: str) -> None:
        said.append(line)
        if stop and line.startswith(stop):
            raise Killed

    recipe = Recipe(model=str(model), lora_rank=4, rate=3e-2, max_tokens=8)
    return drilling.drill(recipe, out, steps=6, batch=4, check_every=2, told=told), said


def test_a_killed_drill_comes_to_the_same_weights_and_its_loss_falls(mute: Path, tmp_path: Path) -> None:
    whole, said = drilled(mute, tmp_path / "whole")
    assert (whole.steps, whole.before) == (6, 0.0)
    losses = [float(line.split("loss ")[1].split()[0]) for line in said if "loss" in line]
    assert len(losses) == 3
    assert losses[-1] < 0.7 * losses[0]
    with pytest.raises(Killed):
        drilled(mute, tmp_path / "killed", stop="Drill, step 4")
    assert not (tmp_path / "killed").exists()
    again, told = drilled(mute, tmp_path / "killed")
    assert "The drill goes on after step 2." in told
    assert again == whole
    assert weights_hash(tmp_path / "killed") == weights_hash(tmp_path / "whole") != weights_hash(mute)
    assert [file.name for file in tmp_path.glob("*.pt*")] == []
    load(str(tmp_path / "whole"))
    with pytest.raises(BadInput, match="is there already"):
        drilled(mute, tmp_path / "whole")


def test_a_template_without_tools_is_replaced_and_one_with_tools_is_kept() -> None:
    tokenizer = tiny_tokenizer(Rules(n=5))
    own = tokenizer.chat_template
    assert not drilling.with_tools(tokenizer)
    tokenizer.chat_template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"
    assert drilling.with_tools(tokenizer)
    assert tokenizer.chat_template == own


def test_a_reply_that_cannot_hold_a_call_is_refused(mute: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"A call takes \d+ tokens of this model; give --max-tokens"):
        drilling.drill(
            Recipe(model=str(mute), lora_rank=4, max_tokens=2), tmp_path / "out", steps=1, batch=2, check_every=1
        )
