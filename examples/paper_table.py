"""Plays the whole table of arXiv 2606.07845: ten systems, 90 games each, in one folder of logs.

    python examples/paper_table.py --dry-run                      # scripted players: no key, no network
    python examples/paper_table.py                                # all ten systems: 270,000 calls at most
    python examples/paper_table.py --models GPT-5.4,Qwen3-14B     # some of them, or any model that Inspect knows

It asks nothing. Run again with the same folder, it goes on where it stopped: games that are done are not played again,
and models can be added. How each system is served and what it needs is told by `python -m inspect_dining models`.
"""

from collections.abc import Mapping, Sequence
from typing import get_args

import click
from inspect_ai import eval_set

# Not exported, but what Inspect says of a missing key or package; its own command line catches it just so.
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.util import DisplayType
from rich.text import Text

from inspect_dining.cli.options import numbers
from inspect_dining.errors import BadInput
from inspect_dining.planning.plan import plan
from inspect_dining.planning.presets import EPISODES, ROUNDS, SIZES, presets

DRY_RUN = ("dining/odd_even", "dining/left_first", "dining/silent")
"""Who plays in a dry run: one that eats, one that deadlocks, one that does nothing."""


def seated(name: str, thinking: bool) -> Model:
    """The model of a system of the paper, or of any name that Inspect takes."""
    if "/" in name:
        return get_model(name)
    ways = {system.name.casefold(): system.ways[0] for system in presets().systems}
    if name.casefold() not in ways:
        known = ", ".join(system.name for system in presets().systems)
        raise BadInput(f"{name!r} is no system of the paper and no model such as openai/gpt-5; there are: {known}.")
    way = ways[name.casefold()]
    config = GenerateConfig() if thinking or not way.thinking_off else GenerateConfig(extra_body=way.thinking_off)
    try:
        return get_model(way.model, base_url=way.url, config=config)
    except PrerequisiteError as error:
        raise BadInput(
            f"{name} cannot be asked: {sentence(error)} (To leave it out, name the others with --models.)"
        ) from error


def sentence(error: PrerequisiteError) -> str:
    """What Inspect says, without its colours and lines."""
    return " ".join(Text.from_markup(str(error.message)).plain.split()).removeprefix("ERROR: ")


def same_games(folder: str, asked: Mapping[str, object]) -> None:
    """Refuses a folder with the logs of other games, to which Inspect would add these.

    Raises:
        BadInput: The logs there are of other games.
    """
    for info in list_eval_logs(folder):
        had = read_eval_log(info, header_only=True).eval.task_args
        for key, wanted in asked.items():
            if had.get(key) != wanted:
                raise BadInput(
                    f"{folder} holds games played with {key}={had.get(key)}, not {wanted}: "
                    "give the same options as then, or another --log-dir."
                )


@click.command()
@click.option(
    "--models",
    "given",
    multiple=True,
    help="Systems of the paper or models, several by commas or repeated; all systems of the paper if left out.",
)
@click.option("--dry-run", is_flag=True, help="Scripted players, one game of each size, in a folder of their own.")
@click.option("--log-dir", default="logs/paper-table", show_default=True, help="The folder of the table's logs.")
@click.option(
    "--n", "sizes", callback=numbers(int, "whole numbers such as 5,10,15"), default=",".join(map(str, SIZES)),
    show_default=True, help="Table sizes.",
)  # fmt: skip
@click.option("--episodes", type=click.IntRange(min=1), help=f"Games of each size: {EPISODES}, in a dry run 1.")
@click.option("--rounds", type=click.IntRange(min=3), default=ROUNDS, show_default=True, help="The horizon T.")
@click.option("--thinking/--no-thinking", default=True, help="For the systems that have a switch for it: Qwen3.")
@click.option("--retries", type=click.IntRange(min=0), default=3, show_default=True, help="Of games that failed.")
@click.option("--display", type=click.Choice(get_args(DisplayType)), help="How Inspect shows the run.")
def main(
    given: Sequence[str],
    dry_run: bool,
    log_dir: str,
    sizes: Sequence[int],
    episodes: int | None,
    rounds: int,
    thinking: bool,
    retries: int,
    display: DisplayType | None,
) -> None:
    """Plays the whole table of the paper, and goes on where it stopped."""
    names = [name.strip() for each in given for name in each.split(",") if name.strip()]
    if not names:
        names = list(DRY_RUN) if dry_run else [system.name for system in presets().systems]
    games = episodes or (1 if dry_run else EPISODES)
    folder = f"{log_dir}-dry-run" if dry_run else log_dir
    try:
        planned = plan(sizes, games, rounds, models=names)
    except ValueError as error:
        raise BadInput(str(error)) from error
    click.echo(f"{len(names)} models, {planned.games:,} games, at most {planned.calls:,} model calls,")
    click.echo(f"less those that lie in {folder}:")
    click.echo("".join(f"  {name}\n" for name in names), nl=False)
    models = [seated(name, thinking) for name in names]
    asked = {"n": list(sizes), "episodes": games, "rounds": rounds}
    same_games(folder, asked)
    try:
        done, logs = eval_set(
            "inspect_dining/philosophers",
            model=models,
            task_args=asked,
            log_dir=folder,
            retry_attempts=retries,
            continue_on_fail=True,
            log_dir_allow_dirty=True,  # so that each call may name other models
            display=display,
        )
    except PrerequisiteError as error:
        raise BadInput(sentence(error)) from error
    for log in logs:
        completed = log.results.completed_samples if log.results else 0
        click.echo(f"{log.status:10} {completed:4} of {log.eval.dataset.samples} games  {log.eval.model}")
    if not done:
        raise click.ClickException("Some games failed; the same command plays them again, and only them.")
    click.echo(f"The table: python -m inspect_dining compare {folder}")


if __name__ == "__main__":
    main()
