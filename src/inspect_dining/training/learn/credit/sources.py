"""Credit: what every turn of a step's games is worth to the team, against a baseline.

The learner asks its source of credit once a step and weighs every turn by the advantage that comes back. The published
source is the group mean. A source may learn (a central critic, say): it then has a state, which is saved with the run
and taken up again, and it joins the processes of a run by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from inspect_dining.training.learn.objective import Advantages, Group, group_means


@dataclass(frozen=True, slots=True)
class Credited:
    """What a step's turns are worth.

    Attributes:
        advantages: The advantage of every turn, by group, episode and turn; a group of zeros teaches nothing.
        row: What the source has to say about itself, for the metrics of the step; the same keys in every step.
    """

    advantages: Advantages
    row: dict[str, float] = field(default_factory=dict)


class Credit(Protocol):
    """A source of credit."""

    def assign(self, groups: Sequence[Group]) -> Credited:
        """Gives every turn its advantage, then learns from these groups if it learns.

        Every process calls it with its own groups, also one without any.

        Raises:
            BadInput: A reward is not finite.
        """

    def state(self) -> dict[str, object]:
        """All that a killed run needs to go on with the same numbers: plain values and tensors on the CPU."""

    def load_state(self, state: dict[str, object]) -> None:
        """Takes up such a state."""

    def forget(self) -> None:
        """Starts again as new, since the policy goes back to its first weights."""


class GroupMean:
    """The published source: an episode's reward minus the mean of the others of its group, for all of its turns."""

    def __init__(self, spread: bool = False) -> None:
        """Takes whether advantages are divided by the group's standard deviation."""
        self._spread = spread

    def assign(self, groups: Sequence[Group]) -> Credited:
        """Gives every turn the advantage of its episode."""
        return Credited(group_means(groups, self._spread))

    def state(self) -> dict[str, object]:
        """Nothing is remembered."""
        return {}

    def load_state(self, state: dict[str, object]) -> None:
        """Nothing is remembered."""

    def forget(self) -> None:
        """Nothing is remembered."""
