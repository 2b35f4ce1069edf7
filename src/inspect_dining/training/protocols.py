"""The two protocols behind which a run keeps its engines: an actor plays a step's games, a learner learns from them.

`Run` chooses games, gives out the reward and keeps the books; it does not know which engines it has. `engines` chooses
them by the recipe.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict

from inspect_dining.training.keep.run_directory import MetricsRow
from inspect_dining.training.learn.objective import Group
from inspect_dining.training.play.rollouts import Play, Rollout


class Actor(Protocol):
    """Plays the games of a step with the weights as they are trained."""

    def begin(self, url: str) -> None:
        """Starts what it needs beside this process, in place of anything that it started before.

        Args:
            url: Where the learner serves the model, up to `/v1`; empty if it does not.

        Raises:
            BadInput: It cannot begin, in a sentence.
        """

    def play(self, step: int, plays: Sequence[Play]) -> tuple[list[Rollout], MetricsRow]:
        """Plays games to their end.

        Args:
            step: The step, from 0; the weights are those before it.
            plays: The games of this process.

        Returns:
            The episodes, in the order of the plays, and what the actor adds to the metrics of the step.
        """

    def close(self) -> None:
        """Ends what it started."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a learner learns from in a step.

    Attributes:
        step: The step, from 0.
        groups: The groups of this process, with their rewards.
        rate: Adam's rate.
        entropy: The entropy coefficient: positive rewards entropy, negative punishes it.
        diversity: What seats are paid for acting apart, a nat.
        explore: What entropy over the six actions is paid, a nat.
    """

    step: int
    groups: Sequence[Group]
    rate: float
    entropy: float
    diversity: float
    explore: float = 0.0


class LearnerState(TypedDict):
    """What a learner saves beside the weights."""

    optimizer: dict[str, object]
    """Adam's state."""
    credit: dict[str, object]
    """The state of the source of credit."""


class Learner(Protocol):
    """Changes the weights of the policy by what a step's groups came to."""

    @property
    def url(self) -> str:
        """Where it serves the model, up to `/v1`; empty if it does not."""

    def begin(self, step: int, restarts: int) -> None:
        """Starts what it needs beside this process from the weights as they are, in place of anything before.

        Args:
            step: How many steps were taken.
            restarts: How often the run started again.

        Raises:
            BadInput: It cannot begin, in a sentence.
        """

    def learn(self, lesson: Lesson) -> MetricsRow:
        """Takes a step, unless no group of any process teaches anything.

        Returns:
            The metrics of the step: `dead_groups`, `pairs`, `gradient`, `entropy`, `entropy_coefficient` always.

        Raises:
            BadInput: A reward or the gradient is not finite; no weight was touched.
        """

    def state(self) -> LearnerState:
        """What a killed run needs beside the weights."""

    def load_state(self, state: LearnerState) -> None:
        """Takes up such a state."""

    def forget(self) -> None:
        """Starts again as new, since the policy goes back to its first weights."""

    def close(self) -> None:
        """Ends what it started."""
