"""Plays episodes with dpbench itself, in an environment of its own: reads one job a line, writes one account a line.

A job holds the options of dpbench's BenchmarkConfig and for each philosopher the texts that it replies, in order and
over again. Usage: python peer.py < jobs > accounts
"""

import json
import sys
import threading

from dpbench.core.types import AgentDecision, BenchmarkConfig, LLMCallRecord, TableState
from dpbench.evaluation.metrics import compute_aggregate_metrics
from dpbench.runner import run_episode

SHOWN = (
    "|{philosopher_name}|{state}|{meals_eaten}|{left_fork_status}|{right_fork_status}|{holding_status}"
    "|{left_message}|{right_message}"
)
METRICS = {
    "deadlock_rate": "deadlock",
    "avg_throughput": "throughput",
    "avg_fairness": "fairness",
    "avg_time_to_deadlock": "time_to_deadlock",
    "avg_starvation_count": "starvation",
    "message_action_consistency": "consistency",
    "total_deadlock_events": "deadlocks",
}


class Log:
    """Keeps what dpbench would write to its log."""

    def __init__(self) -> None:
        """Keeps nothing yet."""
        self.states: list[list[object]] = []

    def log_episode_start(self, episode: int) -> None:
        """Nothing to keep."""

    def log_timestep(
        self,
        episode: int,
        timestep: int,
        table: TableState,
        decisions: dict[int, AgentDecision],
        calls: dict[int, LLMCallRecord],
    ) -> None:
        """One logged state."""
        seats = [
            [seat.state.value == "eating", seat.has_left_fork, seat.has_right_fork, seat.meals_eaten]
            for seat in table.philosophers
        ]
        self.states.append([timestep, [-1 if f.holder is None else f.holder for f in table.forks], seats])

    def log_episode_end(self, *account: object) -> None:
        """Nothing to keep."""


def played(options: dict[str, object], texts: list[list[str]]) -> dict[str, object]:
    """Plays one episode: every state, everything that every philosopher was shown, and the metrics."""
    asked: dict[int, int] = {}
    shown: list[list[object]] = []
    lock = threading.Lock()  # dpbench asks from several threads where it has rounds of messages

    def answer(system: str, user: str) -> str:
        seat = int(system[1:])
        with lock:
            turn = asked.get(seat, 0)
            asked[seat] = turn + 1
            shown.append([seat, turn, user])
        return texts[seat][turn % len(texts[seat])]

    log = Log()
    config = BenchmarkConfig(model_fn=answer, system_prompt="{philosopher_name}", decision_prompt=SHOWN, **options)
    result = run_episode(config, 0, logger=log)
    metrics = compute_aggregate_metrics([result], config.communication)
    return {
        "states": log.states,
        "shown": sorted(shown, key=str),
        "timesteps": result.total_timesteps,
        "meals": list(result.meals_per_philosopher),
        **{ours: metrics.get(theirs) for theirs, ours in METRICS.items()},
    }


if __name__ == "__main__":
    for line in sys.stdin:
        job = json.loads(line)
        sys.stdout.write(json.dumps(played(job["options"], job["replies"])) + "\n")
