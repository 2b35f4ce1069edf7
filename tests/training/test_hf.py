"""The tiny model through Inspect's own `hf/` provider, which writes prompts and reads calls in its own way."""

from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import GenerateConfig, get_model

from inspect_dining.table import Record, replay
from inspect_dining.table.record import RECORD
from inspect_dining.tasks import philosophers


def acting(folder: Path, logs: Path, *, n: int, rounds: int, episodes: int, sampled: bool = True) -> list[bool]:
    """For each turn of some games through `hf/` whether it acts."""
    model = get_model(
        "hf/tiny",
        model_path=str(folder),
        device="cpu",
        do_sample=sampled,
        memoize=False,
        config=GenerateConfig(max_tokens=16),
    )
    task = philosophers(n=n, episodes=episodes, rounds=rounds)
    # `hf/` waits two seconds for more requests before it answers any, so all games are played at once.
    (log,) = inspect_eval(
        task, model=model, log_dir=str(logs), display="none", max_samples=episodes, max_connections=n * episodes
    )
    assert log.status == "success"
    records = [Record.from_dict(sample.store[RECORD]) for sample in log.samples or []]
    assert len(records) == episodes
    return [turn.reading.acts for record in records for round in replay(record) for turn in round.turns]


@pytest.mark.slow
def test_it_acts_in_nearly_all_turns_also_through_hf(speaker: Path, tmp_path: Path) -> None:
    """`hf/` calls a call without arguments unparsable; a seat that speaks well would sit there as if it were silent."""
    acts = acting(speaker, tmp_path, n=3, rounds=4, episodes=3)
    assert len(acts) >= 9
    assert sum(acts) / len(acts) >= 0.9


@pytest.mark.slow
def test_a_schooled_model_acts_in_98_of_100_turns_through_hf(schooled: Path, tmp_path: Path) -> None:
    """`hf/` writes the tools in its own way: a model that never saw that prompt loses its turns only there."""
    games = ((5, 60, True), (12, 20, True), (5, 10, False), (12, 5, False))
    acts = [
        act
        for rounds, episodes, sampled in games
        for act in acting(schooled, tmp_path, n=5, rounds=rounds, episodes=episodes, sampled=sampled)
    ]
    assert len(acts) >= 500
    assert sum(acts) / len(acts) >= 0.98
