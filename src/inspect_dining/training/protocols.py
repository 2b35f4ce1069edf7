"""The two protocols of a run's engines: an actor plays a step's games, and a learner learns from them.

`Run` chooses games, computes rewards and keeps the records; it does not know which engines it has. `engines` chooses
them by the recipe.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict

from inspect_dining.training.keep.run_directory import MetricsRow
from inspect_dining.training.learn.objective import Group
from inspect_dining.training.play.rollouts import Play, Rollout


class Actor(Protocol):
    """Plays the games of a step with the current weights."""

    def begin(self, url: str) -> None:
        """Starts the processes that it needs, replacing any that it started before.

        Args:
            url: The URL at which the learner serves the model, up to `/v1`; empty if it does not.

        Raises:
            BadInput: It cannot start.
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
    """The data and settings of a learner's step.

    Attributes:
        step: The step, from 0.
        groups: The groups of this process, with their rewards.
        rate: Adam's rate.
        entropy: The entropy coefficient: positive rewards entropy, negative punishes it.
        diversity: The bonus per nat for seats that act apart.
        explore: The bonus per nat of entropy over the six actions.
    """

    step: int
    groups: Sequence[Group]
    rate: float
    entropy: float
    diversity: float
    explore: float = 0.0


class LearnerState(TypedDict):
    """The state that a learner saves in addition to the weights."""

    optimizer: dict[str, object]
    """Adam's state."""
    credit: dict[str, object]
    """The state of the source of credit."""


class Learner(Protocol):
    """Updates the weights of the policy from a step's groups."""

    @property
    def url(self) -> str:
        """The URL at which it serves the model, up to `/v1`; empty if it does not."""

    def begin(self, step: int, restarts: int) -> None:
        """Starts the processes that it needs, from the current weights, replacing any earlier ones.

        Args:
            step: The number of steps taken.
            restarts: The number of restarts.

        Raises:
            BadInput: It cannot start.
        """

    def learn(self, lesson: Lesson) -> MetricsRow:
        """Takes a step, unless no group of any process has anything to learn from.

        Returns:
            The metrics of the step: `dead_groups`, `pairs`, `gradient`, `entropy`, `entropy_coefficient` always.

        Raises:
            BadInput: A reward or the gradient is not finite; no weight was changed.
        """

    def state(self) -> LearnerState:
        """The state that a killed run needs in addition to the weights."""

    def load_state(self, state: LearnerState) -> None:
        """Restores such a state."""

    def forget(self) -> None:
        """Resets the learner, since the policy returns to its first weights."""

    def close(self) -> None:
        """Ends what it started."""
