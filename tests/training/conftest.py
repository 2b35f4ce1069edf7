"""One thread, as for every tiny model; a tiny model that has never learned anything, and one that calls tools."""

import os
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest
import torch
from accelerate.state import AcceleratorState  # type: ignore[import-untyped]  # it ships no types
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

from inspect_dining.table.rules import Rules
from inspect_dining.training.play.loading import dinner
from inspect_dining.training.play.rollouts import Dinner
from inspect_dining.training.recipe import Recipe, load
from inspect_dining.training.tiny.base import build_base
from inspect_dining.training.tiny.model import tiny_model, tiny_tokenizer
from tests.training.runs import make_speaker


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def fresh_accelerator() -> None:
    """The first `Accelerator` of a process decides the precision and the processes of all others."""
    AcceleratorState._reset_state(reset_partial_state=True)


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerBase:
    return tiny_tokenizer(Rules(n=5))


@pytest.fixture
def raw(tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """A random model in float64, its norms too: those of transformers fall back to float32 inside."""
    model = tiny_model(tokenizer, seed=3, hidden=16, layers=1).double()
    norms = [(name, norm) for name, norm in model.named_modules() if isinstance(norm, Qwen3RMSNorm)]
    for name, norm in norms:
        exact = torch.nn.RMSNorm(norm.weight.shape, norm.variance_epsilon, dtype=torch.float64)
        exact.weight = norm.weight
        model.set_submodule(name, exact)
    return model


@pytest.fixture(scope="session")
def speaker(tokenizer: PreTrainedTokenizerBase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model that has learned nothing but to call tools, in a few seconds."""
    return make_speaker(tmp_path_factory.mktemp("speaker"), tokenizer)


@pytest.fixture(scope="session", params=[11, 12])
def schooled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model as a run begins with it, of two seeds; it takes a minute, for slow tests."""
    folder = tmp_path_factory.mktemp("schooled") / "base"
    build_base(load("quick", {"seed": request.param}), folder, lambda line: None)
    return folder


@pytest.fixture
def seated(raw: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Dinner:
    """The random model at the table."""
    return dinner(raw, tokenizer, Recipe())
