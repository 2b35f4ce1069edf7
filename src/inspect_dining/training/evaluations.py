"""Held-out games as real evaluations: Inspect logs of the base model and of the result, both sampled and greedy."""

from collections.abc import Iterator

from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.recipe import Recipe


def evaluate(recipe: Recipe, directory: RunDir) -> Iterator[str]:
    """Plays test games under Inspect and yields one line per log.

    The games are the first of the very games of the before/after table.
    """
    from inspect_ai import eval as inspect_eval
    from inspect_ai.model import GenerateConfig, get_model

    for name, checkpoint in (("before", directory.checkpoint(0)), ("after", directory.best)):
        for play, temperature in (("sampled", None), ("greedy", 0.0)):
            arguments = {
                "n": list(recipe.test_sizes),
                "episodes": recipe.log_episodes,
                "seed": recipe.seed,
                "rounds": recipe.test_rounds,
                "order": recipe.order,
                "release": recipe.release,
                "ties": recipe.ties,
                "patience": recipe.patience,
                "hint": recipe.hint,
                "memory": recipe.memory,
                "shaping": recipe.shaping,
                "weights": recipe.weights,
                "throughput": recipe.throughput,
                "variance": recipe.variance,
            }
            model = get_model(
                "dining/checkpoint",
                memoize=False,
                config=GenerateConfig(temperature=temperature),
                path=str(checkpoint),
                dtype=recipe.dtype,
                max_tokens=recipe.max_tokens,
                thinking=recipe.thinking,
            )
            (log,) = inspect_eval(
                "inspect_dining/philosophers",
                task_args=arguments,
                model=model,
                log_dir=str(directory.path / "logs"),
                display="none",
                max_samples=64,
                metadata={"checkpoint": name, "play": play},
                score_display=False,
            )
            yield f"Inspect log, {name}, {play}: {log.location} ({log.status})"
