"""Kills processes at random moments of their work: a moment is a share of its computing time, on a busy machine too."""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess

import psutil  # type: ignore[import-untyped]  # it ships no types


def computed(process: BaseProcess) -> float:
    """Seconds of a core that a process has used."""
    with suppress(psutil.Error):
        times = psutil.Process(process.pid).cpu_times()
        return float(times.user + times.system)
    return 0.0


def run(
    processes: Sequence[BaseProcess], until: float | None = None, within_s: float = 3600
) -> tuple[list[int], float]:
    """Starts processes and waits for their end, or kills those that are at work when one has used its time.

    Args:
        processes: Not yet started.
        until: Seconds of a core that one of them may use; None for as many as it takes.
        within_s: Seconds after which they are killed in any case, so that nothing hangs; a busy machine may take long.

    Returns:
        The exit code of each, which is negative for one that was killed, and the most seconds that one of them used.
    """
    for process in processes:
        process.start()
    end, used = time.monotonic() + within_s, 0.0
    while any(process.is_alive() for process in processes):
        used = max(used, *(computed(process) for process in processes if process.is_alive()), 0.0)
        if time.monotonic() > end or (until is not None and used >= until):
            for process in processes:
                if process.is_alive() and process.pid is not None:
                    os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.02)
    for process in processes:
        process.join()
    return [process.exitcode or 0 for process in processes], used
