"""The curriculum: the games of each step, chosen by training success alone.

A stage ends when its efficiency is reached over a window of steps with hardly any deadlocks, or when its steps are used
up. If an early advance fails (deadlock above a bound over a window), the previous stage is resumed and then ends only
by its steps. The current stage follows from the metrics, so a resumed run continues in the same stage.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from inspect_dining.training.recipe import Stage, size

WINDOW = 5
"""Steps over which success and failure are judged."""
FEW_DEADLOCKS = 0.05
"""The deadlock rate at which a stage may end early."""


@dataclass(slots=True)
class Curriculum:
    """A run's position in its stages.

    Attributes:
        stages: The stages.
        fall_back: The deadlock rate that reverts an early advance.
        stage: The current stage, from 0.
        since: Steps played in it.
        early: Whether it was reached by success rather than by using up steps.
        barred: Stages that can no longer end early.
    """

    stages: Sequence[Stage]
    fall_back: float
    stage: int = 0
    since: int = 0
    early: bool = False
    barred: frozenset[int] = frozenset()

    def games(self, groups: int) -> list[tuple[int, int]]:
        """Seats and rounds of each group of a step."""
        names = self.stages[self.stage].games
        return [size(names[i % len(names)]) for i in range(groups)]

    def step(self, deadlock: Sequence[float], efficiency: Sequence[float]) -> None:
        """Updates the position after a step.

        Args:
            deadlock: The training deadlock rate of every step so far.
            efficiency: Their training efficiency.
        """
        self.since += 1
        now = self.stages[self.stage]
        judged = self.since >= WINDOW
        deadlocks = sum(deadlock[-WINDOW:]) / WINDOW
        meals = sum(efficiency[-WINDOW:]) / WINDOW
        if judged and self.early and deadlocks > self.fall_back:
            self._go(self.stage - 1, early=False)
            self.barred |= {self.stage}
        elif self.stage + 1 < len(self.stages):
            won = now.until is not None and judged and deadlocks <= FEW_DEADLOCKS and meals >= now.until
            if won and self.stage not in self.barred:
                self._go(self.stage + 1, early=True)
            elif self.since >= now.steps:
                self._go(self.stage + 1, early=False)

    def _go(self, stage: int, *, early: bool) -> None:
        self.stage, self.since, self.early = stage, 0, early


KEPT = 0.93
"""The share of a stage's best efficiency that must be kept for the entropy coefficient to grow."""


def entropy_share(efficiency: Sequence[float], stages: Sequence[int], *, begun: int, ramp: int) -> float:
    """The entropy coefficient after these steps, as a share of its final value.

    It grows steadily from the step at which it begins, as long as meals do not drop. While the efficiency over a window
    is below that of the stage's best window, it shrinks by a fifth per step. A penalty that continues while the policy
    loses its meals ends in certain deadlock or in silence.

    Args:
        efficiency: The training efficiency of every step.
        stages: The stage of every step.
        begun: The step at which it begins.
        ramp: Steps from there to its final value.

    Returns:
        A share from 0 to 1.
    """
    share, best, stage, since = 0.0, 0.0, -1, 0
    for step, now in enumerate(stages):
        if now != stage:
            best, stage, since = 0.0, now, step
        if step - since + 1 >= WINDOW:
            meals = sum(efficiency[step - WINDOW + 1 : step + 1]) / WINDOW
            best = max(best, meals)
            if step >= begun:
                share = min(1.0, share + 1 / ramp) if meals >= KEPT * best else 0.8 * share
    return share
