"""The tiny model through Inspect's own `hf/` provider, which writes prompts and reads calls in its own way."""

from pathlib import Path

from inspect_ai import eval as inspect_eval
from inspect_ai.model import GenerateConfig, get_model

from inspect_dining.table import Record, replay
from inspect_dining.table.record import RECORD
from inspect_dining.tasks import philosophers


def test_it_acts_in_nearly_all_turns_also_through_hf(speaker: Path, tmp_path: Path) -> None:
    """`hf/` calls a call without arguments unparsable; a seat that speaks well would sit there as if it were silent."""
    model = get_model(
        "hf/tiny", model_path=str(speaker), device="cpu", memoize=False, config=GenerateConfig(max_tokens=16)
    )
    task = philosophers(n=3, episodes=3, rounds=4)
    (log,) = inspect_eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    records = [Record.from_dict(sample.store[RECORD]) for sample in log.samples or []]
    acts = [turn.reading.acts for record in records for round in replay(record) for turn in round.turns]
    assert len(acts) >= 9
    assert sum(acts) / len(acts) >= 0.9
