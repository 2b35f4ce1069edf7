"""Real dinners for the viewer, and what their logs say should be seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.log import EvalSample
from inspect_ai.scorer import Score

from inspect_dining.scorers.catalogue import SCORES as CATALOGUE
from inspect_dining.table import Record
from inspect_dining.tasks import philosophers
from tests.solvers.harness import record_of, run, samples

SCORES = tuple(CATALOGUE)
"""The scores in the order in which the viewer shows them."""


@dataclass(frozen=True, slots=True)
class Dinner:
    """How a log is played.

    Attributes:
        task: Arguments of the task.
        model: The model of the evaluation.
        run: Arguments of Inspect's `eval`.
    """

    task: Mapping[str, object]
    model: str = "dining/lehmann_rabin"
    run: Mapping[str, object] | None = None


DINNERS: dict[str, Dinner] = {
    "five": Dinner({"n": 5, "episodes": 3, "rounds": 12}),
    "fifteen": Dinner({"n": 15, "episodes": 1, "rounds": 10}),
    "cut": Dinner({"n": 5, "episodes": 2, "rounds": 12}, run={"token_limit": 100}),
    "mixed": Dinner(
        {"n": "5,7", "episodes": 2, "rounds": 12},
        run={"model_roles": {"seat_0": "dining/hog", "seat_1": "dining/silent", "seat_2": "dining/random"}},
    ),
    "sequential": Dinner({
        "n": 5,
        "episodes": 1,
        "rounds": 8,
        "order": "sequential",
        "release": "manual",
        "memory": "chat",
    }),
    "long": Dinner({"n": 15, "episodes": 1, "rounds": 100}, model="dining/wave"),
}
"""The logs that the tests look at; `long` is one sample of 1,500 turns."""


@dataclass(frozen=True, slots=True)
class Played:
    """A log that was played.

    Attributes:
        file: Its file name.
        samples: Its samples, in order.
    """

    file: str
    samples: list[EvalSample]

    @property
    def first(self) -> EvalSample:
        """The first sample."""
        return self.samples[0]

    @property
    def record(self) -> Record:
        """The record of the first sample."""
        return record_of(self.first)


def play_all(folder: Path) -> dict[str, Played]:
    """Plays every dinner into one folder of logs."""
    played = {}
    for name, dinner in DINNERS.items():
        task = philosophers(**dinner.task)  # type: ignore[arg-type]  # the task's own arguments, by name
        log = run(task, dinner.model, folder, **(dinner.run or {}))
        played[name] = Played(Path(log.location).name, samples(log))
    return played


def scores_of(sample: EvalSample) -> dict[str, Score]:
    """The scores of a sample, which has some."""
    assert sample.scores is not None
    return sample.scores


def shown(value: float) -> str:
    """A score as the viewer prints it."""
    return f"{value:.4f}".rstrip("0").rstrip(".")
