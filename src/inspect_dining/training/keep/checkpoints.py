"""Checkpoints: written whole or not at all, chosen by selection games, never by training reward.

A checkpoint is a folder that transformers, PEFT and vLLM load: adapters in PEFT's format, or a whole model if all
weights are trained; with the tokenizer and a model card.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import sqrt
from pathlib import Path
from statistics import fmean, variance

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from inspect_dining.files import write_folder
from inspect_dining.training.play.loading import ADAPTER
from inspect_dining.training.recipe import TINY, Recipe


def save(path: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, recipe: Recipe, step: int) -> None:
    """Saves a checkpoint.

    Args:
        path: Its folder.
        model: The model, or its adapters.
        tokenizer: Its tokenizer.
        recipe: The recipe of the run.
        step: The step after which it is saved.
    """

    def fill(folder: Path) -> None:
        model.save_pretrained(str(folder))
        tokenizer.save_pretrained(str(folder))
        adapter = folder / ADAPTER
        if adapter.is_file():
            config = json.loads(adapter.read_text(encoding="utf-8"))
            base = Path(config["base_model_name_or_path"])
            if base.is_dir():
                # Other processes may look for it from any folder.
                config["base_model_name_or_path"] = str(base.resolve())
                adapter.write_text(json.dumps(config, indent=2, sort_keys=True), encoding="utf-8")
        (folder / "README.md").write_text(_card(recipe, step, adapter.is_file()), encoding="utf-8")

    write_folder(path, fill)


def weights_hash(folder: Path) -> str:
    """16 hex digits that name the weights of a checkpoint."""
    digest = sha256()
    for file in sorted(folder.glob("*.safetensors")):
        with file.open("rb") as opened:
            while part := opened.read(2**24):
                digest.update(part)
    return digest.hexdigest()[:16]


def _card(recipe: Recipe, step: int, adapters: bool) -> str:
    kind = "LoRA adapters" if adapters else "All weights"
    base = "a random tiny Qwen3, a stand-in for the method and no claim about language models"
    base = base if recipe.model == TINY else recipe.model
    header = {"library_name": "peft" if adapters else "transformers", "tags": ["inspect_dining", "grpo"]}
    if recipe.model != TINY:
        header["base_model"] = recipe.model
    lines = "\n".join(f"{key}: {json.dumps(value)}" for key, value in header.items())
    return (
        f"---\n{lines}\n---\n\n# Dining philosophers, recipe {recipe.name}, step {step}\n\n"
        f"{kind} trained by `python -m inspect_dining.training` on {base}, with the shaping "
        f"`{recipe.reward().name}`, seed {recipe.seed}, hint {recipe.hint}.\n\n"
        "```\ninspect eval inspect_dining/philosophers --model dining/checkpoint -M path=PATH_TO_THIS_FOLDER\n```\n"
    )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A checkpoint with its selection games.

    Attributes:
        step: The step after which it was taken; 0 is the base model.
        mean: Mean reward over table sizes, sampled and greedy.
        error: Standard error of the mean.
        meals: Mean meals per game, sampled and greedy.
        hash: The hash that names its weights.
    """

    step: int
    mean: float
    error: float
    meals: float
    hash: str

    def to_dict(self) -> dict[str, object]:
        """The candidate as plain values."""
        return asdict(self)


def candidate(step: int, cells: Sequence[Sequence[float]], meals: float, hash: str) -> Candidate:
    """A candidate from its rewards in each cell (a size, sampled or greedy); cells have equal weight."""
    error = sqrt(sum(variance(cell) / len(cell) for cell in cells)) / len(cells)
    return Candidate(step, fmean([fmean(cell) for cell in cells]), error, meals, hash)


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice of the checkpoint that is the result.

    Attributes:
        step: Its step.
        reason: The reason, in a sentence.
    """

    step: int
    reason: str


def choose(candidates: Sequence[Candidate]) -> Choice:
    """The earliest candidate within one standard error of the best mean, among those that eat.

    The one-standard-error rule (Breiman et al. 1984) keeps the earlier one if the games cannot distinguish them.
    """
    eaters = [c for c in candidates if c.meals > 0]
    if not eaters:
        return Choice(0, "No checkpoint ate in its selection games, so the base model stays.")
    top = max(eaters, key=lambda c: (c.mean, -c.step))
    bar = top.mean - top.error
    first = min((c for c in eaters if c.mean >= bar), key=lambda c: c.step)
    if first is top:
        return Choice(top.step, f"Step {top.step} has the highest mean on the selection games ({top.mean:.3f}).")
    return Choice(
        first.step,
        f"Step {first.step} ({first.mean:.3f}) is the earliest within one standard error ({top.error:.3f}) of the best "
        f"on the selection games (step {top.step}, {top.mean:.3f}).",
    )
