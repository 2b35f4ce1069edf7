"""`python -m inspect_dining.training`: train a model on the dining philosophers, and show the results."""

import os
import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import click
from rich.console import Console

from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import is_builtin
from inspect_dining.training.recipe import TINY, Recipe, builtin, load

C = TypeVar("C", bound=Callable[..., object])


CONSENTED = ("art_python", "art_backend", "vllm_python", "vllm_args", "shaping")
"""The keys of a recipe that name code to run or import; a run directory alone cannot request that."""


def refuse_unasked(recipe: Recipe, given: Mapping[str, str], out: Path) -> None:
    """Refuses code that a recipe in a folder would run or import, unless the command line names it too.

    Raises:
        BadInput: The command line does not repeat it.
    """
    for key in CONSENTED:
        value = str(getattr(recipe, key) or "")
        named = ":" in value if key in ("art_backend", "shaping") else bool(value)
        if key == "shaping" and is_builtin(value):
            named = False
        flag = f"--{key.replace('_', '-')}"
        if named and given.get(key) != value:
            raise BadInput(
                f"The recipe in {out} names {value!r} ({key}), which is run or imported only on request: add "
                f"{flag} {shlex.quote(value)} if you trust it."
            )
        if key in given and given[key] != value:
            raise BadInput(f"{flag} {given[key]} is not the value of the run in {out} ({value or 'nothing'}).")


def _keys(command: C) -> C:
    """Every key of a recipe as a flag."""
    for name in reversed(Recipe.model_fields):
        if name != "name":
            command = click.option(f"--{name.replace('_', '-')}", name, metavar="VALUE", help=_help(name))(command)
    return command


def _help(name: str) -> str:
    """The help of a flag: the docstring of the recipe's key."""
    return " ".join((Recipe.model_fields[name].description or "").split()).replace("`", "")


@click.group(
    invoke_without_command=True, context_settings={"show_default": True, "help_option_names": ["-h", "--help"]}
)
@click.option("--recipe", "recipe_name", default=None, help=f"{', '.join(builtin())}, or a YAML file.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="The run directory.")
@click.option("--resume", is_flag=True, help="Continue the run in --out.")
@click.option(
    "--accept-changes", is_flag=True, help="Continue although recipe.yaml was changed since the state was saved."
)
@click.option("--beside/--no-beside", default=None, help="Whether the paper's recipe is also run and shown (tiny).")
@click.option("--threads", type=click.IntRange(min=1), default=None, help="Torch threads; 1 is fastest for tiny.")
@_keys
@click.pass_context
def main(
    context: click.Context,
    /,
    recipe_name: str | None,
    out: Path | None,
    resume: bool,
    accept_changes: bool,
    beside: bool | None,
    threads: int | None,
    **keys: str | None,
) -> None:
    """Trains a model on the dining philosophers by GRPO, on the evaluation's own reward.

    Without arguments, it runs the corrected recipe on a tiny stand-in, with a before/after table, within ten minutes.

    Every key of a recipe is a flag. Flags that are not given keep the recipe's values.
    """
    if context.invoked_subcommand is not None:
        return
    changes = {key: value for key, value in keys.items() if value is not None}
    if resume:
        if changes.keys() - CONSENTED or recipe_name:
            raise BadInput("--resume continues with the recipe that the run began with; give only --out.")
        if out is None:
            raise BadInput("--resume needs the directory of the run: --out RUN.")
    _quiet()
    from inspect_dining.training.keep.run_directory import RunDir

    if resume and out is not None:
        recipe = RunDir(out).recipe()
        refuse_unasked(recipe, changes, out)
    else:
        recipe = load(recipe_name or ("quick" if "model" not in changes else "corrected"), changes)
        if Path(recipe.model).is_dir():
            # so --resume finds it from any folder
            recipe = recipe.model_copy(update={"model": str(Path(recipe.model).resolve())})
    processes, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    if processes > 1 and out is None:
        raise BadInput("Several processes need one common run directory: give --out RUN.")
    path = out or Path("runs") / f"{recipe.name}-{recipe.seed}-{datetime.now():%Y%m%d-%H%M%S}"
    from inspect_dining.training import session

    tiny = recipe.model == TINY
    session.threads(threads or (1 if tiny else None))
    if beside is None:
        beside = tiny and recipe.name != "paper"
    # The control run uses a single process.
    beside = beside and processes == 1
    session.whole(
        recipe, path, Console(quiet=rank > 0, markup=False), resume=resume, beside=beside, accept=accept_changes
    )


@main.command()
@click.option("--recipe", "recipe_name", default="quick", help="The recipe whose versions of the proposals are tried.")
@click.option("--seeds", default="21,22,23,24,25", help="The seeds of every variant.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A recipe key, for all variants except the paper's."
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, help="Runs in parallel.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs/ablation"), help="The folder of all runs.")
def ablate(recipe_name: str, seeds: str, settings: Sequence[str], jobs: int, out: Path) -> None:
    """Runs the paper's recipe, each of its three proposals alone, each left out, and all together."""
    _quiet()
    if wrong := [one for one in settings if "=" not in one]:
        raise BadInput(f"--set {wrong[0]} is not read; write a key and its value, such as --set steps=60.")
    from inspect_dining.training import ablate as ablation

    recipe = load(recipe_name, {key: value for key, _, value in (one.partition("=") for one in settings)})
    try:
        numbers = [int(seed) for seed in seeds.split(",")]
    except ValueError:
        raise BadInput(f"--seeds {seeds} is not read; whole numbers are expected, such as 21,22,23.") from None
    console = Console(markup=False)
    found = ablation.ablate(recipe, numbers, out, jobs=jobs, told=console.print)
    console.print(ablation.table(found, recipe, numbers))
    ablation.written(found, out / "ablation.json")
    ablation.picture(found, out / "ablation.png")
    console.print(
        f"Numbers and picture: {out / 'ablation.json'}, {out / 'ablation.png'}", soft_wrap=True, highlight=False
    )


@main.command()
@click.option("--model", required=True, help="A local folder, or a hub name.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder of the drilled model.")
@click.option("--seed", default=1, help="The seed of views and samples.")
@click.option("--steps", type=click.IntRange(min=1), default=60, help="The most steps.")
@click.option("--batch", type=click.IntRange(min=1), default=32, help="Views a step.")
@click.option("--check-every", type=click.IntRange(min=1), default=5, help="Steps between two counts of calls.")
@click.option("--rate", default=5e-4, help="Adam's rate.")
@click.option("--lora-rank", type=click.IntRange(min=1), default=16, help="Rank of the adapters, which are merged.")
@click.option("--max-tokens", type=click.IntRange(min=1), default=32, help="The most tokens of a reply.")
@click.option("--dtype", default="float32", help="float32 or bfloat16.")
@click.option("--thinking", default=None, help="Whether the chat template is asked for a thinking reply.")
@click.option("--micro-tokens", type=click.IntRange(min=1), default=4096, help="Tokens in one backward pass.")
@click.option("--threads", type=click.IntRange(min=1), default=None, help="Threads of torch.")
def drill(
    out: Path, steps: int, batch: int, check_every: int, threads: int | None, lora_rank: int, **keys: object
) -> None:
    """Teaches a language model to call tools, so that it can be trained: a format drill.

    Killed, it goes on where it was when the same command is given again.
    """
    _quiet()
    from inspect_dining.training import drill as drilling
    from inspect_dining.training import session

    session.threads(threads)
    given = {key: value for key, value in keys.items() if value is not None}
    recipe = load("corrected", {**given, "lora_rank": lora_rank, "lora_alpha": 2 * lora_rank})
    console = Console(markup=False)
    came = drilling.drill(recipe, out, steps=steps, batch=batch, check_every=check_every, told=console.print)
    console.print(
        f"{came.after:.0%} of {drilling.ASKED} sampled replies call a tool after {came.steps} steps ({came.before:.0%} "
        f"before). The model: {out}",
        soft_wrap=True,
        highlight=False,
    )


@main.command()
@click.argument("model")
def template(model: str) -> None:
    """Prints a chat template that makes a server show tools as in training; MODEL is a folder or a hub name.

    Use it with `vllm serve MODEL --chat-template FILE` to evaluate a trained model by `vllm/`.
    """
    _quiet()
    from inspect_dining.training.play.loading import load_tokenizer, prompts
    from inspect_dining.training.play.vllm_server import served_template

    tokenizer = load_tokenizer(model)
    prompts(tokenizer)  # refuses a tokenizer without a template in a sentence
    click.echo(served_template(tokenizer), nl=False)


def _quiet() -> None:
    """Silences the libraries' own output."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    warnings.filterwarnings("ignore", category=FutureWarning, module="torch|transformers|peft")


def run(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line."""
    main.main(args=arguments, prog_name="python -m inspect_dining.training")


if __name__ == "__main__":
    run()
