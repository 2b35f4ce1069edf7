"""A killer of evaluations: killed at random moments and retried, they come to the records of an undisturbed run.

    python -m tests.faults kills 60

Each evaluation is forked from a server that has done the imports and nothing else, so that a kill lands in the play and
not in them, and no lock of a thread is inherited.
"""

import multiprocessing
import random
import sys
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
from tests.faults.killing import run

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


def killed(work: Callable[[], object], until: float | None = None) -> tuple[bool, float]:
    """Runs work in a child; says whether it was killed after so many seconds of a core, and how many it used."""
    (code,), used = run([CONTEXT.Process(target=work)], until)
    return code < 0, used


def outcome(folder: Path, length: float, buffer: int | None, rng: random.Random) -> str:
    """Kills one evaluation, retries it until it is complete, and says what became of its games."""
    if not killed(partial(evaluate, folder, buffer), rng.uniform(0.1, 1.0) * length)[0]:
        return "ended before the kill"
    logs = [info.name for info in list_eval_logs(str(folder))]
    if not logs:
        return "killed before there was a log"
    if killed(partial(retry, logs[0], folder))[0]:
        return "the retry hung"
    statuses = [read_eval_log(info.name, header_only=True).status for info in list_eval_logs(str(folder))]
    if "success" not in statuses:
        return f"not retried: {statuses}"
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
        for name in ("first", "whole"):  # the first is slower: its imports are new
            was_killed, length = killed(partial(evaluate, Path(folder) / name, None))
            assert not was_killed
        for number in range(2 * times):
            came = outcome(Path(folder) / str(number), length, (None, 100)[number % 2], rng)
            found[came] += 1
            sys.stderr.write(f"{number + 1}: {came}\n")
            if sum(found.values()) - found["ended before the kill"] - found["killed before there was a log"] >= times:
                break
    return found
