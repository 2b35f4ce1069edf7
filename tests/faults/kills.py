"""A killer of evaluations: killed at random moments and retried, they come to the records of an undisturbed run.

    python -m tests.faults kills 60

Each evaluation is forked from a server that has done the imports and nothing else, so that a kill lands in the play and
not in them, and no lock of a thread is inherited.
"""

import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from inspect_ai import eval, eval_retry
from inspect_ai.log import list_eval_logs, read_eval_log

from inspect_dining.analysis.inputs.collection import read
from inspect_dining.analysis.inputs.episodes import Status
from inspect_dining.table import Record, Rules, episode_seed, play, sample_id

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([
    "tests.faults.kills",
    "inspect_dining._registry",
    "inspect_dining.solvers.dinner",
    "langgraph.graph",
    "inspect_ai._eval.eval",
])
RULES = Rules(3, 5)
EPISODES = 12
PLAYER = "random"


def undisturbed() -> dict[str, Record]:
    """The games of an undisturbed run by sample id."""
    names = [sample_id(RULES.n, 0, episode) for episode in range(EPISODES)]
    return {name: play(RULES, PLAYER, episode_seed("test", name)) for name in names}


def evaluate(folder: Path, buffer: int | None) -> None:
    """Runs the evaluation."""
    eval(
        "inspect_dining/philosophers",
        task_args={"n": RULES.n, "rounds": RULES.rounds, "episodes": EPISODES},
        model=f"dining/{PLAYER}",
        log_dir=str(folder),
        log_buffer=buffer,
        display="none",
        max_samples=3,
    )


def retry(log: str, folder: Path) -> None:
    """Completes a run that was killed, as `inspect eval-retry` does."""
    eval_retry(log, log_dir=str(folder), display="none")


def killed_after(seconds: float, work: Callable[[], object]) -> bool:
    """Runs work in a child and kills it by SIGKILL; says whether it was still at work."""
    child = CONTEXT.Process(target=work)
    child.start()
    child.join(seconds)
    alive = child.is_alive()
    if alive and child.pid is not None:
        os.kill(child.pid, signal.SIGKILL)
    child.join()
    return alive


def outcome(folder: Path, length: float, buffer: int | None, rng: random.Random) -> str:
    """Kills one evaluation, retries it until it is complete, and says what became of its games."""
    if not killed_after(rng.uniform(0.1, 1.0) * length, partial(evaluate, folder, buffer)):
        return "ended before the kill"
    logs = [info.name for info in list_eval_logs(str(folder))]
    if not logs:
        return "killed before there was a log"
    killed_after(600, partial(retry, logs[0], folder))
    newest = list_eval_logs(str(folder))[0].name
    if read_eval_log(newest, header_only=True).status != "success":
        return "not retried"
    found = read([folder])
    counts = Counter(episode.status for episode in found.episodes)
    if counts != {Status.SCORED: EPISODES}:
        return f"games lost: {dict(counts)}"
    same = {episode.sample: episode.record for episode in found.episodes} == undisturbed()
    return "whole and equal" if same else "records differ"


def kill(times: int, seed: int = 1) -> Counter[str]:
    """Kills so many evaluations, half of them with the default buffer of the log and half with a large one."""
    rng, found = random.Random(seed), Counter[str]()
    with TemporaryDirectory() as folder:
        for name in ("first", "whole"):
            began = time.monotonic()
            killed_after(600, partial(evaluate, Path(folder) / name, None))
        length, number = time.monotonic() - began, 0
        while found["whole and equal"] + found["games lost"] < times and number < 4 * times:
            came = outcome(Path(folder) / str(number), length, (None, 100)[number % 2], rng)
            found[came] += 1
            number += 1
            if came == "ended before the kill":
                length *= 0.7  # measured on a busier machine
            sys.stderr.write(f"{number}: {came}\n")
            if sum(found.values()) - found["ended before the kill"] - found["killed before there was a log"] >= times:
                break
    return found
