"""A killer of trainings: two processes fight for every folder, the one that has it is killed, and the run goes on.

    python -m tests.faults trainings 40

Each training is begun by two processes at once. One gets the folder and the other is refused; the one at work is killed
at a random moment, and two more fight to go on, until the run is done. Then everything that it wrote must be what an
undisturbed run wrote, times apart.
"""

import multiprocessing
import os
import random
import signal
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from inspect_dining.errors import BadInput
from inspect_dining.table import Rules
from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.tiny.model import tiny_tokenizer
from tests.faults.killing import run
from tests.training.runs import account, make_speaker, small, trained

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.faults.trainings"])
KILLS = 2
"""How often a training is killed at most."""
REFUSED, FAILED = 3, 4
"""Exit codes of a process that was refused the folder, and of one that was refused anything else."""


def recipe_of(base: Path) -> Recipe:
    """Six short steps on an adapter, with states and checkpoints every second."""
    return small(base, lora_rank=4, steps=6, save_every=2)


def train(recipe: Recipe, path: Path) -> None:
    """Trains in a folder, as a process of its own; what it is refused is its exit code."""
    torch.set_num_threads(1)
    try:
        trained(recipe, path, resume=(path / "recipe.yaml").exists())
    except BadInput as refused:
        own = "is in use" in str(refused) or "There is a run in" in str(refused)
        if not own:
            sys.stderr.write(f"{refused}\n")
        os._exit(REFUSED if own else FAILED)


def fight(recipe: Recipe, path: Path, until: float | None = None) -> tuple[str, float]:
    """Two processes at once in one folder; when one has used so many seconds of a core, what is at work is killed.

    Returns:
        What came of it (`killed`, `done`, or what went wrong), and the seconds used.
    """
    codes, used = run([CONTEXT.Process(target=partial(train, recipe, path)) for _ in range(2)], until)
    if min(codes) < 0:
        # both may still have been on their way to the lock
        return ("killed" if set(codes) <= {-signal.SIGKILL, REFUSED} else f"killed beside {codes}"), used
    # the second may have come when the first was done, and found nothing left to do
    return ("done" if sorted(codes) in ([0, REFUSED], [0, 0]) else f"ended with {codes}"), used


def outcome(recipe: Recipe, path: Path, length: float, rng: random.Random, whole: object) -> str:
    """Kills one training up to `KILLS` times, lets it be completed, and says what became of it."""
    kills = 0
    for _ in range(KILLS):
        came, _ = fight(recipe, path, rng.uniform(0.05, 1.0) * length)
        if came == "done":
            break
        if came != "killed":
            return came
        kills += 1
    else:
        came, _ = fight(recipe, path)
    if came != "done":
        return came
    if account(RunDir(path)) != whole:
        return "differs"
    return f"whole and equal after {kills} kills"


def kill(times: int, seed: int = 1) -> Counter[str]:
    """Kills so many trainings."""
    rng, found = random.Random(seed), Counter[str]()
    with TemporaryDirectory() as folder:
        recipe = recipe_of(make_speaker(Path(folder) / "base", tiny_tokenizer(Rules(n=5))))
        for name in ("first", "whole"):  # the first is slower: its imports are new
            came, length = fight(recipe, Path(folder) / name)
            assert came == "done", came
        whole = account(RunDir(Path(folder) / "whole"))
        for number in range(times):
            came = outcome(recipe, Path(folder) / str(number), length, rng, whole)
            found[came] += 1
            sys.stderr.write(f"{number + 1}: {came}\n")
    return found
