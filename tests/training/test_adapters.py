"""Weights that are not what their folder says: libraries only warn, and play on with weights that they make up."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.play.loading import load
from inspect_dining.training.run import Run
from tests.training.runs import Silent, small, trained

Weights = dict[str, torch.Tensor]


@pytest.fixture
def adapters(speaker: Path, tokenizer: PreTrainedTokenizerBase, tmp_path: Path) -> Path:
    """A folder with adapters of rank 2."""
    model = get_peft_model(load(str(speaker))[0], LoraConfig(r=2, target_modules="all-linear", task_type="CAUSAL_LM"))
    model.save_pretrained(str(tmp_path / "adapters"))
    tokenizer.save_pretrained(tmp_path / "adapters")
    return tmp_path / "adapters"


@pytest.mark.parametrize(
    ("rank", "said"),
    [(3, "are of rank 2, but its .* says 3"), (10**9, "says 1000000000"), (0, "says 0"), ("x", "says x")],
)
def test_adapters_of_another_rank_than_their_settings_say_are_refused(adapters: Path, rank: object, said: str) -> None:
    load(str(adapters))
    file = adapters / "adapter_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "r": rank}), encoding="utf-8")
    with pytest.raises(BadInput, match=said) as refused:
        load(str(adapters))
    assert "\n" not in str(refused.value)


def without_one(weights: Weights) -> Weights:
    return dict(list(weights.items())[1:])


def with_one_more(weights: Weights) -> Weights:
    name, weight = next(iter(weights.items()))
    return {**weights, name.replace("layers.0", "layers.9"): weight.clone()}


def not_finite(weights: Weights) -> Weights:
    return {name: weight / 0 for name, weight in weights.items()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without_one, "do not match its adapter_config.json: .* has no counterpart"),
        (with_one_more, r"layers\.9\..* has no counterpart"),
        (lambda weights: {}, "has no counterpart"),
        (not_finite, "numbers that are not finite"),
    ],
)
def test_adapters_with_a_weight_too_few_or_too_many_are_refused(
    adapters: Path, change: Callable[[Weights], Weights], said: str
) -> None:
    """PEFT fills in what is missing by chance, and leaves out what it does not know."""
    file = adapters / "adapter_model.safetensors"
    save_file(change(load_file(file)), file)
    with pytest.raises(BadInput, match=said):
        load(str(adapters))


def test_a_whole_model_with_a_missing_weight_is_refused(speaker: Path, tmp_path: Path) -> None:
    shutil.copytree(speaker, tmp_path / "model")
    file = tmp_path / "model" / "model.safetensors"
    save_file(without_one(load_file(file)), file, metadata={"format": "pt"})
    with pytest.raises(BadInput, match="is missing or of another shape"):
        load(str(tmp_path / "model"))


def test_a_run_does_not_go_on_with_adapters_of_another_rank(speaker: Path, tmp_path: Path) -> None:
    """Neither by an edited recipe alone, nor where the edit is accepted: the state has the old shapes."""
    trained(small(speaker, lora_rank=2, steps=1), tmp_path)
    other = small(speaker, lora_rank=4, steps=2)
    for accept, said in (
        (False, r"lora_rank 4 \(was 2\)"),
        (True, r"with lora_rank 4: .*lora_A.* has the shape \[2, "),
    ):
        directory = RunDir(tmp_path)
        try:
            with pytest.raises(BadInput, match=said):
                Run(other, directory, Silent(), resume=True, accept=accept)
        finally:
            directory.release()
