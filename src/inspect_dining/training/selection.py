"""The choice of the result: selection games for every checkpoint, test games for the chosen one."""

import json
from dataclasses import dataclass
from statistics import fmean

from inspect_dining.files import point, write
from inspect_dining.training.held_out import HeldOutCell, held_out
from inspect_dining.training.keep import checkpoints
from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.play.rollouts import Dinner
from inspect_dining.training.recipe import Recipe


@dataclass(frozen=True, slots=True)
class RunResult:
    """The outcome of a run.

    Attributes:
        run: Its directory.
        choice: The chosen checkpoint, and the reason.
        before: Held-out games of the base model.
        after: Held-out games of the result.
        restarts: The number of restarts.
    """

    run: RunDir
    choice: checkpoints.Choice
    before: list[HeldOutCell]
    after: list[HeldOutCell]
    restarts: int


def select(dinner: Dinner, recipe: Recipe, directory: RunDir, step: int) -> str:
    """Plays the selection games of a new checkpoint, and updates the links `last` and `best`.

    Returns:
        The results of the games, in one line.
    """
    path = directory.checkpoint(step)
    cells = held_out(
        dinner,
        recipe,
        "select",
        recipe.select_sizes,
        recipe.select_rounds,
        recipe.select_episodes,
        f"{recipe.seed}/{step}",
    )
    meals = fmean(cell.numbers["meals"] * cell.n for cell in cells)
    found = checkpoints.candidate(step, [cell.rewards for cell in cells], meals, checkpoints.weights_hash(path))
    directory.append("selection.jsonl", found.to_dict())
    point(directory.last, path)
    settle(recipe, directory)
    shown = ", ".join(
        f"n={cell.n} {'greedy' if cell.greedy else 'sampled'}: deadlock {cell.numbers['deadlock']:.2f}"
        f" efficiency {cell.numbers['efficiency']:.2f}"
        for cell in cells
    )
    return f"Checkpoint {step}: {found.mean:.3f} +- {found.error:.3f} ({shown})"


def settle(recipe: Recipe, directory: RunDir) -> None:
    """Points `best` at the checkpoint that the recipe keeps, of the existing ones, and records the reason."""
    choice, last = choose(recipe, directory), int(directory.rows("selection.jsonl")[-1]["step"])
    point(directory.best, directory.checkpoint(choice.step))
    write(
        directory.path / "choice.json",
        json.dumps({"step": choice.step, "reason": choice.reason, "last": last}, indent=2) + "\n",
    )


def choose(recipe: Recipe, directory: RunDir) -> checkpoints.Choice:
    """The checkpoint that is the result so far, by the recipe's rule."""
    found = [
        checkpoints.Candidate(int(row["step"]), row["mean"], row["error"], row["meals"], str(row["hash"]))
        for row in directory.rows("selection.jsonl")
    ]
    if recipe.keep == "last":
        return checkpoints.Choice(found[-1].step, "The recipe keeps the last checkpoint.")
    return checkpoints.choose(found)


def play_tests(dinner: Dinner, recipe: Recipe, step: int) -> list[HeldOutCell]:
    """Plays the test games of a recipe with the weights of a checkpoint."""
    key = f"{recipe.seed}/{step}"
    return held_out(dinner, recipe, "test", recipe.test_sizes, recipe.test_rounds, recipe.test_episodes, key)


def table_of(outcome: RunResult) -> dict[str, object]:
    """The before/after table as plain values."""
    return {
        "choice": {"step": outcome.choice.step, "reason": outcome.choice.reason},
        "restarts": outcome.restarts,
        **{
            name: [{"n": cell.n, "play": "greedy" if cell.greedy else "sampled", **cell.numbers} for cell in cells]
            for name, cells in (("before", outcome.before), ("after", outcome.after))
        },
    }
