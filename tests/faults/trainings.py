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
import time
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


def fight(recipe: Recipe, path: Path, seconds: float | None) -> str:
    """Two processes at once in one folder; after so many seconds whatever is at work is killed.

    Returns:
        What came of it: `killed`, `done`, or what went wrong.
    """
    rivals = [CONTEXT.Process(target=partial(train, recipe, path)) for _ in range(2)]
    for rival in rivals:
        rival.start()
    until = None if seconds is None else time.monotonic() + seconds
    for rival in rivals:
        rival.join(600 if until is None else max(0.0, until - time.monotonic()))
    at_work = [rival for rival in rivals if rival.is_alive()]
    for rival in at_work:
        assert rival.pid is not None
        os.kill(rival.pid, signal.SIGKILL)
    for rival in rivals:
        rival.join()
    codes = sorted(rival.exitcode or 0 for rival in rivals)
    if at_work:
        # both may still have been on their way to the lock
        return "killed" if set(codes) <= {-signal.SIGKILL, REFUSED} else f"killed beside {codes}"
    # the second may have come when the first was done, and found nothing left to do
    return "done" if codes in ([0, REFUSED], [0, 0]) else f"ended with {codes}"


def outcome(recipe: Recipe, path: Path, length: float, rng: random.Random, whole: object) -> str:
    """Kills one training up to `KILLS` times, lets it be completed, and says what became of it."""
    kills = 0
    for _ in range(KILLS):
        came = fight(recipe, path, rng.uniform(0.05, 1.0) * length)
        if came == "done":
            break
        if came != "killed":
            return came
        kills += 1
    else:
        came = fight(recipe, path, None)
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
        lengths = []
        for name in ("first", "whole"):  # the first is slower: its imports are new
            began = time.monotonic()
            came = fight(recipe, Path(folder) / name, None)
            assert came == "done", came
            lengths.append(time.monotonic() - began)
        whole = account(RunDir(Path(folder) / "whole"))
        for number in range(times):
            came = outcome(recipe, Path(folder) / str(number), lengths[-1], rng, whole)
            found[came] += 1
            sys.stderr.write(f"{number + 1}: {came}\n")
    return found
