"""The peer's side of `overhead.py`: runs under an interpreter that has dpbench, and prints CPU seconds of an episode.

PYTHON peer_dpbench.py PHILOSOPHERS TIMESTEPS EPISODES
"""

import sys
import time

from dpbench.benchmark import Benchmark  # type: ignore[import-not-found,import-untyped,unused-ignore]


def model(system: str, user: str) -> str:
    """A model that answers at once and always waits, so that every episode runs to its end."""
    return "THINKING: none\nACTION: WAIT"


def seconds(philosophers: int, timesteps: int, episodes: int) -> float:
    """CPU seconds of one episode, the mean of several."""
    started = time.process_time()
    Benchmark.run(
        model,
        system_prompt="You dine.",
        decision_prompt="Decide.",
        philosophers=philosophers,
        episodes=episodes,
        max_timesteps=timesteps,
    )
    return (time.process_time() - started) / episodes


if __name__ == "__main__":
    size, steps, count = map(int, sys.argv[1:])
    seconds(size, steps, 1)
    sys.stdout.write(f"{seconds(size, steps, count)}\n")
