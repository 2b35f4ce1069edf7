"""The tiny base model of a run: built, schooled, and kept in the run directory."""

from collections.abc import Callable
from pathlib import Path

from inspect_dining.files import write_folder
from inspect_dining.training.play.loading import dinner
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.tiny.model import tiny_model, tiny_tokenizer
from inspect_dining.training.tiny.schooling import school


def build_base(recipe: Recipe, path: Path, tell: Callable[[str], None]) -> None:
    """Builds, schools and saves the tiny model of a recipe; the same recipe seed gives the same weights."""
    tokenizer = tiny_tokenizer(recipe.rules(5, 30))
    model = tiny_model(tokenizer, recipe.seed)
    tell(f"Building a tiny Qwen3 of {sum(p.numel() for p in model.parameters()):,} random parameters.")
    school(dinner(model, tokenizer, recipe), seed=recipe.seed, hint=recipe.hint, told=tell)

    def fill(folder: Path) -> None:
        model.save_pretrained(str(folder))
        tokenizer.save_pretrained(str(folder))

    write_folder(path, fill)
