"""A whole session at the command line: audit, training, held-out games, curves, Inspect logs, and their locations."""

from collections.abc import Sequence
from pathlib import Path

import torch
from rich.console import Console

from inspect_dining.audit.assessment import audit
from inspect_dining.errors import BadInput
from inspect_dining.training.held_out import HeldOutCell
from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.recipe import TINY, Recipe, load, size
from inspect_dining.training.run import Run
from inspect_dining.training.selection import RunResult
from inspect_dining.training.show.display import Display, comparison

NOTE = "The tiny model is a stand-in for the method; nothing here is a claim about language models."


def threads(number: int | None) -> None:
    """Sets torch's threads; one is many times faster than two for a tiny model."""
    if number:
        torch.set_num_threads(number)


def whole(
    recipe: Recipe,
    path: Path,
    console: Console,
    *,
    resume: bool = False,
    beside: bool = False,
    accept: bool = False,
) -> RunResult | None:
    """Trains, tests and shows the results; returns None in processes other than the first.

    Args:
        recipe: The recipe.
        path: The run directory.
        console: The console for output.
        resume: Whether the run in the directory is continued.
        beside: Whether the paper's recipe is run on the same model and shown alongside.
        accept: Whether a run continues with a recipe that has changed since.

    Raises:
        BadInput: An input is not accepted.
    """
    judged(recipe, console)
    directory = RunDir(path)
    try:
        return _whole(recipe, directory, console, resume=resume, beside=beside, accept=accept)
    finally:
        directory.release()


def _whole(
    recipe: Recipe, directory: RunDir, console: Console, *, resume: bool, beside: bool, accept: bool
) -> RunResult | None:
    path = directory.path
    console.print(f"Run directory: {path}", soft_wrap=True, highlight=False)
    with Display(console) as display:
        run = Run(recipe, directory, display, resume=resume, accept=accept)
        display.shown = run.chief
        try:
            run.train()
        except (OSError, BadInput) as error:
            cause = error if isinstance(error, OSError) else error.__cause__
            if not isinstance(cause, OSError):
                raise
            raise BadInput(
                f"The run stopped, since {path} cannot be written ({cause.strerror or cause}); "
                "what was saved is whole. Make room, then go on with --resume."
            ) from None
        if not run.chief:
            return None
        display.line("Playing the test games.")
        outcome = run.test()
        columns: list[tuple[str, Sequence[HeldOutCell]]] = [("before", outcome.before)]
        if beside:
            columns.append(("paper recipe", paper_beside(recipe, directory, display)))
        columns.append(("after", outcome.after))
    hint = "with the parity hint" if recipe.hint == "parity" else "without a hint"
    title = (
        f"{recipe.model}, recipe {recipe.name}, shaping {recipe.reward().name}, {hint}, T={recipe.test_rounds}, "
        f"{recipe.test_episodes} test games a row, {outcome.restarts} restarts"
    )
    console.print(comparison(title, columns))
    console.print(outcome.choice.reason, soft_wrap=True, highlight=False)
    if recipe.model == TINY:
        console.print(NOTE, soft_wrap=True)
    _finish(recipe, directory, console)
    return outcome


def judged(recipe: Recipe, console: Console) -> None:
    """Audits the reward on every game of the recipe's stages, before anyone trains on it.

    Raises:
        BadInput: Silence, hogging or certain deadlock pays, and the recipe does not accept that.
    """
    games = sorted({size(game) for stage in recipe.stages for game in stage.games})
    failed: dict[str, str] = {}
    for n, rounds in games:
        found = audit(recipe.reward(), n, rounds)
        for one in found.properties:
            if not one.passed:
                failed.setdefault(one.name, f"n={n}, T={rounds}: {one.detail}")
    if not failed:
        sizes = ", ".join(f"{n}x{rounds}" for n, rounds in games)
        console.print(f"Audit: {recipe.reward().name} has all properties at {sizes}.", soft_wrap=True, highlight=False)
        return
    for name, detail in failed.items():
        console.print(f"Audit: {recipe.reward().name} fails '{name}' ({detail})", soft_wrap=True, highlight=False)
    if not recipe.accept_audit:
        raise BadInput(
            f"The shaping {recipe.reward().name} fails its audit ({', '.join(failed)}), so training can make it worse "
            "at the game while its reward rises; take another --shaping, or give --accept-audit true to see it happen."
        )


def paper_beside(recipe: Recipe, directory: RunDir, display: Display) -> list[HeldOutCell]:
    """Runs the paper's recipe on the same model: its 96 episodes, at this recipe's rate, its last checkpoint."""
    base = str(directory.base) if recipe.model == TINY else recipe.model
    changes = {
        "model": base,
        "accept_audit": True,
        "rate": recipe.rate,
        "rate_last": recipe.rate,
        **{
            key: getattr(recipe, key)
            for key in (
                "seed",
                "order",
                "release",
                "ties",
                "patience",
                "hint",
                "dtype",
                "memory",
                "max_tokens",
                "thinking",
                "test_sizes",
                "test_rounds",
                "test_episodes",
            )
        },
    }
    control = load("paper", changes)
    display.line(
        f"The paper's recipe on the same model: {control.steps} steps of {control.groups} x {control.episodes}."
    )
    inside = RunDir(directory.path / "paper")
    run = Run(control, inside, Display(display.console, shown=False), resume=(inside.path / "recipe.yaml").exists())
    run.train()
    return run.test().after


def _finish(recipe: Recipe, directory: RunDir, console: Console) -> None:
    """Curves and Inspect logs, and the locations of all files."""
    try:
        from inspect_dining.training.show.curves import curves

        curves(directory.rows("metrics.jsonl"), directory.path / "curves.png", f"Recipe {recipe.name}, training games")
        console.print(f"Curves: {directory.path / 'curves.png'}", soft_wrap=True, highlight=False)
    except ImportError:
        console.print("No curves: matplotlib is missing; install inspect-dining[analysis].", soft_wrap=True)
    console.print(f"Checkpoint: {directory.best}", soft_wrap=True, highlight=False)
    if recipe.log_episodes:
        from inspect_dining.training.evaluations import evaluate

        for line in evaluate(recipe, directory):
            console.print(line, soft_wrap=True, highlight=False)
    console.print(
        f"inspect eval inspect_dining/philosophers --model dining/checkpoint -M path={directory.best}",
        soft_wrap=True,
        highlight=False,
    )
