"""Learner art on our side of the fence: what is wrong is said early, and only an adapter that fits is taken up."""

import json
import sys
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel

from inspect_dining.errors import BadInput
from inspect_dining.training.__main__ import main
from inspect_dining.training.keep.run_directory import MetricsRow, RunDir
from inspect_dining.training.learn.art import learner as art_learner
from inspect_dining.training.learn.art.learner import check, differences, take_up
from inspect_dining.training.play import loading, vllm_actor
from inspect_dining.training.recipe import Recipe, Stage
from inspect_dining.training.run import Run


class Quiet:
    """A watcher that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(text)

    def step(self, row: MetricsRow, total: int) -> None:
        """Is told nothing."""


def interpreter(folder: Path, words: str) -> str:
    """An interpreter that is no Python: it says these words and ends."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def has_art(folder: Path, version: str = "0.5.23", then: str = "echo no GPU here >&2; exit 3") -> str:
    """An interpreter that says it has ART, and does something else when it is to train."""
    told = json.dumps({"python": "3.12.1", "art": version})
    return interpreter(folder, f"if [ $# -lt 3 ]; then echo '{told}'; else {then}; fi")


def refused(sentence: str, processes: int = 1, **keys: object) -> None:
    with pytest.raises(BadInput, match=sentence):
        check(Recipe.model_validate({"learner": "art", "lora_rank": 2, "model": "some/model", **keys}), processes)


def test_what_is_wrong_with_art_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    good = has_art(tmp_path)
    refused("runs OpenPipe ART in its own interpreter: make an environment of Python 3.12")
    refused("lora_rank is 0; give --lora-rank 8", art_python=good, lora_rank=0)
    refused("was started in 2 processes", 2, art_python=good)
    refused("--art-backend nearby is not accepted", art_python=good, art_backend="nearby")
    refused("tiny is on this machine", art_python=good, art_backend="serverless", model="tiny")
    refused("put its key into WANDB_API_KEY", art_python=good, art_backend="serverless")
    refused("is not usable .No such file or directory.", art_python=str(tmp_path / "none"))
    refused("has no openpipe-art: make an environment", art_python=sys.executable)
    check(Recipe(learner="art", lora_rank=2, art_python=good))


@pytest.mark.parametrize("version", ["0.5.18", "0.4.99", "0.5.22.post1"])
def test_an_older_art_is_refused(version: str, tmp_path: Path) -> None:
    """On Python 3.11 pip silently installs 0.5.18, whose interface is another."""
    refused(f"Python 3.12.1 with openpipe-art {version}, which is too old", art_python=has_art(tmp_path, version))


def test_an_interpreter_that_answers_nonsense_is_refused(tmp_path: Path) -> None:
    refused("it does not run as Python 3.12", art_python=interpreter(tmp_path, "echo Python 2.7"))


def test_without_an_interpreter_nothing_is_made(tmp_path: Path, speaker: Path) -> None:
    path = tmp_path / "run"
    arguments = [
        "--recipe",
        "quick",
        "--learner",
        "art",
        "--model",
        str(speaker),
        "--stages",
        "3x5",
        "--out",
        str(path),
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "give --art-python ENVIRONMENT/bin/python" in " ".join(result.output.split())
    assert not path.exists()


@pytest.mark.slow
def test_a_child_that_ends_says_its_last_words(tmp_path: Path, speaker: Path) -> None:
    recipe = Recipe(
        model=str(speaker), learner="art", lora_rank=2, art_python=has_art(tmp_path), stages=(Stage(games=("3x5",)),),
        steps=1, select_sizes=(3,), select_rounds=5, select_episodes=2,
    )  # fmt: skip
    with pytest.raises(BadInput, match=r"stopped without an answer; the last that it printed: no GPU here .*art\.log"):
        Run(recipe, RunDir(tmp_path / "run"), Quiet()).train()


KEYS = {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "MY_PASSWORD"}


def test_the_child_gets_what_it_needs_of_the_environment_and_no_keys(
    tmp_path: Path, speaker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It once got every key of every provider, and with one of Weights & Biases told its metrics there."""
    for name in (*KEYS, "WANDB_API_KEY", "ART_SERVER_TIMEOUT", "HF_HOME", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.setenv(name, f"the {name}")
    seen = tmp_path / "seen"
    python = has_art(tmp_path, then=f"env > {seen}; exit 3")
    needed = {"PATH", "HOME", "ART_SERVER_TIMEOUT", "HF_HOME", "CUDA_VISIBLE_DEVICES", "LITELLM_LOCAL_MODEL_COST_MAP"}
    tokenizer = loading.load(str(speaker))[1]
    for backend, keys in (("local", set()), ("my.module:Backend", set()), ("serverless", {"WANDB_API_KEY"})):
        recipe = Recipe(model=str(speaker), learner="art", lora_rank=2, art_python=python, art_backend=backend)
        table = loading.dinner(loading.with_adapters(loading.load(str(speaker))[0], recipe), tokenizer, recipe)
        with pytest.raises(BadInput, match="stopped without an answer"):
            art_learner.Art(recipe, str(speaker), tmp_path / "run" / "art", table.policy, tokenizer)
        names = {line.partition("=")[0] for line in seen.read_text(encoding="utf-8").splitlines()}
        assert needed <= names
        assert names & (KEYS | {"WANDB_API_KEY"}) == keys


def test_what_art_does_otherwise_is_said() -> None:
    told = " ".join(differences(Recipe(entropy=-0.1, diversity=0.5, updates=2, pairs=640, anchor=0.05)))
    assert "handed over times that number" in told
    assert "no use is made of entropy, diversity, pairs, updates." in told
    told = " ".join(differences(Recipe(weighting="episode", anchor=0.05, updates=1, pairs=0, art_accumulate=64)))
    assert "handed over as they are" in told
    assert "every 64 turns" in told
    assert "no use is made of anchor." in told


def adapted(model: PreTrainedModel, rank: int) -> PeftModel:
    torch.manual_seed(rank)
    made = get_peft_model(model, LoraConfig(r=rank, target_modules="all-linear", init_lora_weights=False))
    assert isinstance(made, PeftModel)
    return made


def test_an_adapter_that_comes_back_is_taken_up_whole(tmp_path: Path, speaker: Path) -> None:
    """PEFT only warns of weights that it does not know, and would go on with the old ones."""
    theirs, ours = (adapted(loading.load(str(speaker))[0], 2) for _ in range(2))
    with torch.no_grad():
        for parameter in theirs.parameters():
            if parameter.requires_grad:
                parameter.add_(1)
    theirs.save_pretrained(str(tmp_path / "new"))
    take_up(ours, tmp_path / "new")  # type: ignore[arg-type]  # PEFT's wrapper forwards everything
    for (name, mine), yours in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert torch.equal(mine, yours), name
    with torch.no_grad():
        next(p for p in theirs.parameters() if p.requires_grad)[0, 0] = float("nan")
    theirs.save_pretrained(str(tmp_path / "broken"))
    with pytest.raises(BadInput, match="holds numbers that are not finite"):
        take_up(ours, tmp_path / "broken")  # type: ignore[arg-type]  # as above
    adapted(loading.load(str(speaker))[0], 3).save_pretrained(str(tmp_path / "other"))
    with pytest.raises(BadInput, match=r"does not fit the model's .* differs"):
        take_up(ours, tmp_path / "other")  # type: ignore[arg-type]  # as above


@pytest.mark.slow
def test_games_are_asked_of_the_server_that_art_has_started(
    tmp_path: Path, speaker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second server beside ART's own finds no memory left on the GPU."""
    asked: list[str | None] = []

    def rollouts(recipe: Recipe, *rest: object) -> None:
        asked.append(recipe.vllm_url)
        raise BadInput("enough")

    monkeypatch.setattr(vllm_actor, "ServedDinner", rollouts)
    ready = json.dumps({"answer": "ready", "url": "http://127.0.0.1:9/v1"})
    python = has_art(tmp_path, then=f"echo '{ready}'; cat")
    for number, keys in enumerate([{}, {"vllm_url": "http://other"}]):
        recipe = Recipe.model_validate({
            "model": str(speaker), "learner": "art", "lora_rank": 2, "art_python": python, "rollouts": "vllm", **keys
        })  # fmt: skip
        run = Run(recipe, RunDir(tmp_path / f"run{number}"), Quiet())
        with pytest.raises(BadInput, match="enough"):
            run.train()
    assert asked == ["http://127.0.0.1:9/v1", "http://other"]
    assert isinstance(run.learner, art_learner.ArtLearner)
    assert run.learner.child is not None
    assert run.learner.child.process.poll() == 0
