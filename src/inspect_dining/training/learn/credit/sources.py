"""Credit: the value of every turn of a step's games to the team, relative to a baseline.

The learner calls its source of credit once per step and weighs every turn by the returned advantage. The published
source is the group mean. A source may learn, as a central critic does; it then has a state, which is saved with the run
and restored, and it synchronises the processes of a run by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from inspect_dining.training.learn.objective import Advantages, Group, group_means


@dataclass(frozen=True, slots=True)
class Credited:
    """The credit of a step's turns.

    Attributes:
        advantages: The advantage of every turn, by group, episode and turn; a group of zeros teaches nothing.
        row: The source's own metrics of the step; the same keys in every step.
    """

    advantages: Advantages
    row: dict[str, float] = field(default_factory=dict)


class Credit(Protocol):
    """A source of credit."""

    def assign(self, groups: Sequence[Group]) -> Credited:
        """Gives every turn its advantage, then learns from these groups if it learns.

        Every process calls it with its own groups, even if it has none.

        Raises:
            BadInput: A reward is not finite.
        """

    def state(self) -> dict[str, object]:
        """All that a killed run needs to go on with the same numbers: plain values and tensors on the CPU."""

    def load_state(self, state: dict[str, object]) -> None:
        """Restores such a state."""

    def forget(self) -> None:
        """Resets the source, since the policy returns to its first weights."""


class GroupMean:
    """The published source: an episode's reward minus the mean of the others of its group, for all of its turns."""

    def __init__(self, spread: bool = False) -> None:
        """Takes whether advantages are divided by the group's standard deviation."""
        self._spread = spread

    def assign(self, groups: Sequence[Group]) -> Credited:
        """Gives every turn the advantage of its episode."""
        return Credited(group_means(groups, self._spread))

    def state(self) -> dict[str, object]:
        """There is no state."""
        return {}

    def load_state(self, state: dict[str, object]) -> None:
        """There is no state."""

    def forget(self) -> None:
        """There is no state."""
