"""The learner and the sampler give a reply the same probability, whatever random modules a model has."""

from math import nan
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from peft import LoraConfig, get_peft_model
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.scorers.terms import Terms
from inspect_dining.table import Rules
from inspect_dining.training.alarms import OFF_LIMIT, Alarm, alarms
from inspect_dining.training.held_out import rewarded
from inspect_dining.training.learn.credit.sources import GroupMean
from inspect_dining.training.learn.objective import Group, pairs
from inspect_dining.training.learn.updates import Update, Updater
from inspect_dining.training.play.loading import dinner, load, with_adapters
from inspect_dining.training.play.rollouts import Play
from inspect_dining.training.play.steady import make_steady, prepare_gradients
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.tiny.model import tiny_model


class Jitter(torch.nn.Module):
    """A module of somebody's own that is random in training, as a jittering router is."""

    def __init__(self, inside: torch.nn.Module) -> None:
        super().__init__()
        self.inside = inside
        self.jitter_noise = 0.3

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.inside(*args)
        return out * (1 + self.jitter_noise * torch.rand_like(out)) if self.training else out


def made(tokenizer: PreTrainedTokenizerBase, kind: str) -> PreTrainedModel:
    """A tiny model with one kind of chance in it."""
    model = tiny_model(tokenizer, seed=3, hidden=16, layers=2)
    if kind == "attention":
        model.config.attention_dropout = 0.4
        for layer in model.model.layers:
            layer.self_attn.attention_dropout = 0.4
    if kind == "module":
        for layer in model.model.layers:
            layer.mlp.act_fn = torch.nn.Sequential(layer.mlp.act_fn, torch.nn.Dropout(0.4))
    if kind == "jitter":
        for layer in model.model.layers:
            layer.mlp.down_proj = Jitter(layer.mlp.down_proj)
    if kind == "adapters":
        config = LoraConfig(r=2, lora_dropout=0.4, target_modules="all-linear", init_lora_weights=False)
        model = get_peft_model(model, config)  # type: ignore[assignment]  # PEFT's wrapper forwards everything
    return model


def updated(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, checkpointing: bool) -> Update:
    """One update on a game that the model has just played."""
    model = with_adapters(model, Recipe(gradient_checkpointing=checkpointing))
    table = dinner(model, tokenizer, Recipe(max_tokens=4))
    episodes = tuple(table.play([Play(Rules(2, 3), 1, f"{member}") for member in range(3)]))
    groups = [Group("0", episodes, (0.0, 0.5, 1.0))]
    given = pairs(groups, GroupMean().assign(groups).advantages, planned=1)
    return Updater(table.policy, Accelerator(cpu=True)).update(given, 1e-3)


@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("kind", ["none", "attention", "module", "jitter", "adapters"])
def test_sampler_and_learner_agree_whatever_is_random_in_a_model(
    tokenizer: PreTrainedTokenizerBase, kind: str, checkpointing: bool
) -> None:
    """A dropout of 0.2 in the attention once put them 0.12 nats a token apart, in silence."""
    one = updated(made(tokenizer, kind), tokenizer, checkpointing)
    assert one.gradient > 0
    assert one.off < 1e-5


def test_layers_recompute_their_activations_where_they_are_asked_to(tokenizer: PreTrainedTokenizerBase) -> None:
    model = made(tokenizer, "attention")
    model.gradient_checkpointing_enable({"use_reentrant": False})  # type: ignore[no-untyped-call]
    make_steady(model)
    prepare_gradients(model)
    assert all(layer.training for layer in model.model.layers)
    assert not any(layer.self_attn.training or layer.mlp.training for layer in model.model.layers)
    assert {layer.self_attn.attention_dropout for layer in model.model.layers} == {0.0}


def test_probabilities_that_differ_raise_an_alarm_in_local_play_too() -> None:
    row = {"meals": 1.0, "deadlock": 0.2, "lost": 0.0, "dead_groups": 0.0, "fed": 0.5, "best_meals": 9.0}
    row |= {"efficiency": 0.2, "entropy": 1.0, "stage": 0.0, "reward": 0.1}
    assert Alarm.OFF not in alarms([{**row, "off": OFF_LIMIT / 2}])
    assert Alarm.OFF not in alarms([row])
    assert Alarm.OFF in alarms([{**row, "off": 0.12}])


@pytest.mark.parametrize("value", [nan, float("inf"), 1e308, "x", None, True])
def test_a_shaping_without_a_number_is_a_sentence_that_names_reward_and_game(value: object) -> None:
    shaping = Shaping("mine", lambda episode: value)  # type: ignore[arg-type, return-value]  # it is what is tested
    with pytest.raises(BadInput, match=r"The select game n03-s0-e001, greedy, has no reward: The shaping mine"):
        rewarded(shaping, Terms(3, 5, 5, False, (1, 0, 0)), "select game n03-s0-e001, greedy,")


def test_a_shaping_that_raises_is_a_sentence_too() -> None:
    shaping = Shaping("mine", lambda episode: episode.eaten / 0)
    with pytest.raises(BadInput, match=r"The test game x, has no reward: The shaping mine raised ZeroDivisionError"):
        rewarded(shaping, Terms(3, 5, 5, False, (1, 0, 0)), "test game x,")


def refuse(folder: Path, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence) as refused:
        load(str(folder))
    assert len(str(refused.value)) < 600


def test_a_model_of_somebody_else_is_refused_in_a_sentence(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pickled weights, code of its own, adapters of another shape, a template that refuses, loops or writes a book."""

    def folder(name: str) -> Path:
        path = tmp_path / name
        tiny_model(tokenizer, seed=3, hidden=16, layers=1).save_pretrained(path)
        tokenizer.save_pretrained(path)
        return path

    load(str(folder("good")))
    pickled = folder("pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    refuse(pickled, "pickled weights")
    listed = folder("listed")
    (listed / "config.json").write_text("[]", encoding="utf-8")
    refuse(listed, "keys with values were expected")
    adapters = tmp_path / "adapters"
    adapters.mkdir()
    (adapters / "adapter_config.json").write_text("[]", encoding="utf-8")
    refuse(adapters, "keys with values were expected")
    coded = folder("coded")
    (coded / "config.json").write_text(
        '{"model_type": "own", "auto_map": {"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M"}}', encoding="utf-8"
    )
    (coded / "own.py").write_text("raise SystemExit('the model was believed')", encoding="utf-8")
    refuse(coded, "cannot be loaded")
    monkeypatch.setattr("inspect_dining.training.play.loading.TEMPLATE_WITHIN_S", 1.0)
    refusing, looping = folder("refusing"), folder("looping")
    (refusing / "chat_template.jinja").write_text(
        "{{ raise_exception('System role not supported') }}", encoding="utf-8"
    )
    refuse(refusing, "System role not supported")
    loops = "".join("{% for a in range(99999) %}" for _ in range(3)) + "{% endfor %}" * 3
    (looping / "chat_template.jinja").write_text(loops, encoding="utf-8")
    refuse(looping, "does not end within")
