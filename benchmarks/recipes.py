"""Recipes beside each other on the same first weights: whole runs of several seeds, and their paired differences.

    python benchmarks/recipes.py --recipes quick counterfactual --seeds 51-60 --out runs/credit

For every seed a tiny model is built and taught once; each recipe then trains it and plays the test games. The first
recipe is the one that the others are set beside. A run that is done is not run again and one that was killed goes on,
so that the script can be stopped and started at will, and more seeds can be added later. After every run the rows are
written to OUT/rows.csv, and at the end the mean paired differences over seeds are shown, with t intervals. CPU seconds
are those of the steps and of the checkpoints between them, counted through kills.
"""

import argparse
import csv
import io
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from inspect_dining.files import write
from inspect_dining.statistics import mean_interval
from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.recipe import Recipe, load
from inspect_dining.training.run import Run
from inspect_dining.training.tiny.base import build_base

SIZES = (5, 7, 10, 15, 20)
"""Of these 7, 15 and 20 are in no recipe's stages."""
COLUMNS = ("recipe", "seed", "step", "restarts", "cpu_seconds", "n", "play")
NUMBERS = ("deadlock", "efficiency", "fed", "jain", "lost", "reward")


def say(text: str) -> None:
    """Shows a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Clock:
    """Watches a run: says how it goes now and then, and keeps the CPU seconds of its steps on disk."""

    def __init__(self, name: str, file: Path) -> None:
        """Takes the file in which the seconds are kept, a line for every step."""
        self.name, self.file, self.last = name, file, time.process_time()

    def line(self, text: str) -> None:
        """Something happened; checkpoints are told on."""
        if text.startswith("Checkpoint"):
            say(f"{self.name}: {text}")

    def step(self, row: dict[str, float], total: int) -> None:
        """A step ended."""
        now = time.process_time()
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": row["step"], "cpu": now - self.last}) + "\n")
        self.last = now

    def seconds(self) -> float:
        """The seconds of all steps; of one that was played again after a kill, the latest."""
        lines = [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
        return sum({int(line["step"]): float(line["cpu"]) for line in lines}.values())


def trained(recipe: Recipe, name: str, folder: Path) -> None:
    """Trains and tests, or goes on with it."""
    clock = Clock(name, folder.with_suffix(".cpu"))
    run = Run(recipe, RunDir(folder), clock, resume=(folder / "recipe.yaml").exists())
    run.train()
    run.test()


def rows(out: Path) -> list[dict[str, str | float]]:
    """A row for every size and way to play of every run that is done."""
    made: list[dict[str, str | float]] = []
    for file in sorted(out.glob("*/table.json")):
        recipe, seed = file.parent.name.rsplit("-", 1)
        table = json.loads(file.read_text(encoding="utf-8"))
        seconds = round(Clock(recipe, file.parent.with_suffix(".cpu")).seconds())
        for when, step in (("before", 0), ("after", table["choice"]["step"])):
            made += [
                {
                    "recipe": recipe if when == "after" else "before",
                    "seed": int(seed),
                    "step": step,
                    "restarts": table["restarts"] if when == "after" else 0,
                    "cpu_seconds": seconds if when == "after" else 0,
                    "n": cell["n"],
                    "play": cell["play"],
                    **{key: round(cell[key], 4) for key in NUMBERS},
                }
                for cell in table[when]
            ]
    # The base of a seed is tested in every run of it, on the same games.
    return [row for i, row in enumerate(made) if row not in made[:i]]


def written(found: Sequence[dict[str, str | float]], path: Path) -> None:
    """Writes the rows as CSV, whole or not at all."""
    text = io.StringIO()
    table = csv.DictWriter(text, (*COLUMNS, *NUMBERS), lineterminator="\n")
    table.writeheader()
    table.writerows(found)
    write(path, text.getvalue())


def shown(found: Sequence[dict[str, str | float]], recipes: Sequence[str]) -> None:
    """The mean of each recipe over the seeds that all have, and the paired difference to the first."""
    of = {(row["recipe"], row["seed"], row["n"], row["play"]): row for row in found}
    seeds = sorted({
        row["seed"] for row in found if all((name, row["seed"], row["n"], row["play"]) in of for name in recipes)
    })
    say(f"\n{len(seeds)} seeds that all recipes have: {', '.join(map(str, seeds))}")
    for n, play, key in (
        (n, p, k) for n in SIZES for p in ("sampled", "greedy") for k in ("efficiency", "deadlock", "fed")
    ):
        cells = []
        for name in recipes:
            pairs = [(float(of[name, s, n, play][key]), float(of[recipes[0], s, n, play][key])) for s in seeds]
            mean = mean_interval([value for value, _ in pairs])
            text = f"{name} {mean.mean:.2f}" if mean.mean is not None else name
            if name != recipes[0]:
                apart = mean_interval([value - first for value, first in pairs])
                if apart.mean is not None:
                    text += f" ({apart.mean:+.2f}"
                    text += f", 95% {apart.interval.low:+.2f} to {apart.interval.high:+.2f})" if apart.interval else ")"
            cells.append(text)
        say(f"n={n:<3}{play:8}{key:11}" + "   ".join(cells))
    for name in recipes:
        seconds = {row["seed"]: float(row["cpu_seconds"]) for row in found if row["recipe"] == name}
        say(f"{name}: {sum(seconds.values()) / max(1, len(seconds)):.0f} CPU seconds a run")


def numbers(text: str) -> list[int]:
    """Seeds as `51-60` or `51,52`."""
    first, dash, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if dash else [int(part) for part in text.split(",")]


def main() -> None:
    """Runs what is not done yet, and shows all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--recipes", nargs="+", required=True, help="recipes by name or YAML file; the first is set beside"
    )
    parser.add_argument("--seeds", type=numbers, required=True, help="51-60 or 51,52")
    parser.add_argument("--out", type=Path, required=True, help="the folder of all runs")
    parser.add_argument(
        "--games", type=int, default=100, help="test games a size and way to play (default %(default)s)"
    )
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    names = [Path(name).stem for name in given.recipes]
    tests = {"test_sizes": SIZES, "test_episodes": given.games, "log_episodes": 0}
    for seed in given.seeds:
        base = given.out / f"base-{seed}"
        if not base.exists():
            build_base(load(given.recipes[0], {"seed": seed}), base, say)
        for recipe, name in zip(given.recipes, names, strict=True):
            folder = given.out / f"{name}-{seed}"
            if not (folder / "table.json").exists():
                trained(load(recipe, {"seed": seed, "model": str(base), **tests}), f"{name}, seed {seed}", folder)
            written(rows(given.out), given.out / "rows.csv")
    shown(rows(given.out), names)


if __name__ == "__main__":
    main()
