"""The examples in `docs/philosophers.md` sit down at a real table."""

import re
from pathlib import Path

import pytest

from inspect_dining.table import Rules, episode_seed, play
from inspect_dining.tasks import philosophers
from tests.solvers.harness import Talker, calls, record_of, run, samples, says

PAGE = Path(__file__).parents[2] / "docs" / "philosophers.md"
EXAMPLES = dict(re.findall(r'```python title="(\w+)\.py"\n(.*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL))


@pytest.fixture(autouse=True)
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the page's examples where a user would have them."""
    for name, code in EXAMPLES.items():
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize("name", ["my_philosophers:careful", "my_agents:plain"])
def test_the_examples_play_the_game_of_the_default_philosopher(name: str, tmp_path: Path) -> None:
    log = run(philosophers(n=3, episodes=1, rounds=6, philosopher=name), "dining/wave", tmp_path)
    assert record_of(samples(log)[0]) == play(Rules(n=3, rounds=6), "wave", episode_seed("test", "n03-s0-e000"))


def test_the_insisting_example_turns_silence_into_a_turn(tmp_path: Path) -> None:
    class Nudged(Talker):
        """A model that speaks first, and calls a tool once it is nudged."""

        async def answer(self, input, tools, tool_choice, config):  # type: ignore[no-untyped-def]  # as in Talker
            if input[-1].text == "Call exactly one tool now.":
                return calls("think")
            return says("Let me think about it.")

    task = philosophers(n=2, episodes=1, rounds=3, philosopher="my_philosophers:careful")
    record = record_of(samples(run(task, Nudged(lambda view, c: calls("think")).model(), tmp_path))[0])
    assert record.rounds == ("ff", "ff", "ff")
