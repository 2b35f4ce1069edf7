"""Small runs of training, and everything about one that a kill must not change."""

import json
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from inspect_dining.training.keep.checkpoints import weights_hash
from inspect_dining.training.keep.run_directory import MetricsRow, RunDir
from inspect_dining.training.play.loading import dinner
from inspect_dining.training.recipe import Recipe, Stage
from inspect_dining.training.run import Run
from inspect_dining.training.tiny.model import tiny_model
from inspect_dining.training.tiny.schooling import school

TIMES = ("seconds", "seconds_played")


class Silent:
    """A watcher that keeps lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(text)

    def step(self, row: MetricsRow, total: int) -> None:
        return


def small(model: Path, **changes: object) -> Recipe:
    recipe = Recipe(
        model=str(model),
        steps=4,
        groups=2,
        episodes=3,
        stages=(Stage(games=("3x5", "2x4"), steps=2), Stage(games=("4x6",))),
        rate=3e-3,
        pairs=40,
        checkpoint_every=2,
        save_every=1,
        select_sizes=(3,),
        select_rounds=5,
        select_episodes=2,
        test_sizes=(3,),
        test_rounds=5,
        test_episodes=2,
        entropy=-0.01,
    )
    return recipe.model_copy(update=changes)


def trained(recipe: Recipe, path: Path, resume: bool = False) -> RunDir:
    directory = RunDir(path)
    Run(recipe, directory, Silent(), resume=resume).train()
    return directory


def account(directory: RunDir) -> dict[str, object]:
    """Everything that must be equal, times apart."""
    return {
        "metrics": [{k: v for k, v in row.items() if k not in TIMES} for row in directory.rows("metrics.jsonl")],
        "selection": directory.rows("selection.jsonl"),
        "choice": json.loads((directory.path / "choice.json").read_text()),
        "hashes": {p.name: weights_hash(p) for p in sorted((directory.path / "checkpoints").iterdir())},
        "records": {p.name: p.read_bytes() for p in sorted((directory.path / "records").iterdir())},
        "best": str(directory.best.readlink()),
    }


def make_speaker(folder: Path, tokenizer: PreTrainedTokenizerBase) -> Path:
    """A tiny model that has learned nothing but to call tools, in a few seconds."""
    model = tiny_model(tokenizer, seed=5, hidden=32, layers=1)
    school(dinner(model, tokenizer, Recipe()), seed=5, most_drill_steps=0, imitation_steps=50, batch=64, rate=1e-2)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
