"""The engines of a run, chosen by its recipe: an actor that plays a step's games, and a learner."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from transformers import PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.training.learn.art import learner as art_learner
from inspect_dining.training.learn.credit import central
from inspect_dining.training.learn.credit.central import Central
from inspect_dining.training.learn.credit.critic import Critic
from inspect_dining.training.learn.credit.sources import Credit, GroupMean
from inspect_dining.training.learn.scoring import choose_rows
from inspect_dining.training.learn.torch_learner import TorchLearner
from inspect_dining.training.play import sharding, strangers, vllm_actor
from inspect_dining.training.play.rollouts import PAST, Dinner, LocalActor
from inspect_dining.training.protocols import Actor, Learner
from inspect_dining.training.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts from which engines are created.

    Attributes:
        recipe: The recipe.
        folder: The run directory.
        base: The base model, as another process can find it.
        dinner: The model being trained, at the table.
        tokenizer: Its tokenizer.
        accelerator: Connects the processes.
        tell: Receives messages about progress.
    """

    recipe: Recipe
    folder: Path
    base: str
    dinner: Dinner
    tokenizer: PreTrainedTokenizerBase
    accelerator: Accelerator
    tell: Callable[[str], None]


def check(recipe: Recipe, processes: int) -> None:
    """Checks the requirements of a recipe's engines, before anything is created.

    Raises:
        BadInput: Something is missing or incompatible.
    """
    if sharding.wanted():
        if not recipe.lora_rank:
            raise BadInput(
                "Sharded weights (FSDP) are for LoRA: the base model is sharded, the adapters are trained whole in "
                "every process; give --lora-rank 8, say, or launch without FSDP to train all weights."
            )
        if recipe.learner != "torch" or recipe.rollouts != "local":
            raise BadInput(
                "Sharded weights (FSDP) are played and trained in these processes; give --learner torch and "
                "--rollouts local, or launch without FSDP."
            )
        if recipe.credit == "counterfactual" or recipe.explore:
            raise BadInput(
                "Sharded weights (FSDP) need the same passes in every process, and counterfactual credit and the bonus "
                "on exploration make their own; give --credit critic or group and --explore 0, or launch without FSDP."
            )
    if recipe.learner == "art":
        art_learner.check(recipe, processes)
    central.check(recipe)
    strangers.check(recipe)
    vllm_actor.check(recipe, processes)


def choose_actor(parts: Parts) -> Actor:
    """The actor of a recipe."""
    if parts.recipe.rollouts == "vllm":
        return vllm_actor.VllmActor(
            parts.recipe,
            parts.folder,
            parts.base,
            parts.dinner.policy,
            parts.tokenizer,
            parts.accelerator,
            parts.tell,
        )
    past = strangers.Past(parts.recipe, parts.folder / "checkpoints") if PAST in parts.recipe.partners else None
    return LocalActor(parts.dinner, past)


def choose_learner(parts: Parts) -> Learner:
    """The learner of a recipe."""
    if parts.recipe.learner == "art":
        return art_learner.ArtLearner(
            parts.recipe, parts.base, parts.folder / "art", parts.dinner.policy, parts.tokenizer, parts.tell
        )
    return TorchLearner(parts.recipe, parts.dinner.policy, parts.accelerator, choose_credit(parts), parts.tell)


def choose_credit(parts: Parts) -> Credit:
    """The source of credit of a recipe."""
    recipe = parts.recipe
    if recipe.credit == "group":
        return GroupMean(recipe.spread)
    critic = Critic(
        recipe.seed,
        memory=recipe.critic_memory,
        updates=recipe.critic_updates,
        batch=recipe.critic_batch,
        rate=recipe.critic_rate,
    )
    return Central(
        recipe.credit,
        critic,
        parts.dinner.policy,
        choose_rows(parts.dinner.policy, recipe.micro_tokens, parts.accelerator.autocast)[0],
        recipe.reward(),
        memory=recipe.critic_memory,
    )
