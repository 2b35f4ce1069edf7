"""The schedules of a run: the rate, the entropy coefficient, and the bonuses on acting apart and on exploring."""

from collections.abc import Sequence

from inspect_dining.training.curriculum import entropy_share
from inspect_dining.training.keep.run_directory import MetricsRow
from inspect_dining.training.recipe import Recipe


def rate(recipe: Recipe, step: int, restarts: int) -> float:
    """Adam's rate at a step: it decays geometrically, and every restart halves it."""
    fallen: float = (recipe.rate_last / recipe.rate) ** (step / recipe.steps)
    return float(recipe.rate * fallen * 0.5**restarts)


def entropy(recipe: Recipe, rows: Sequence[MetricsRow], since: int) -> float:
    """The entropy coefficient of the next step (see `curriculum.entropy_share`).

    Args:
        recipe: The recipe.
        rows: The metrics of the steps since the last restart.
        since: The step of the last restart, or 0.
    """
    if not recipe.entropy:
        return 0.0
    left = recipe.steps - since
    begun = round(recipe.entropy_from * left)
    return recipe.entropy * entropy_share(
        [row["efficiency"] for row in rows],
        [int(row["stage"]) for row in rows],
        begun=begun,
        ramp=max(1, left - begun),
    )


def diversity(recipe: Recipe, step: int, since: int) -> float:
    """The bonus for seats that act apart at a step: it falls steadily to 0 from the last restart on."""
    return recipe.diversity * _left(recipe, step, since, recipe.diversity_until)


def explore(recipe: Recipe, step: int, since: int) -> float:
    """The bonus per nat of entropy over the six actions at a step: it falls steadily to 0 from the last restart on."""
    return recipe.explore * _left(recipe, step, since, recipe.explore_until)


def _left(recipe: Recipe, step: int, since: int, until: float) -> float:
    """The remaining share of a coefficient that falls steadily to 0 at a share of the run."""
    return max(0.0, 1 - (step - since) / (recipe.steps - since) / until)
