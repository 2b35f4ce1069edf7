"""`python -m inspect_dining check`: two short games of each model before a long run."""

from collections.abc import Sequence

import click

from inspect_dining.cli.options import count, counts
from inspect_dining.errors import BadInput


@click.command(name="check")
@click.argument("models", nargs=-1, metavar="MODEL...")
@click.option("--base-url", "base_url", help="Address of the model's server, as in `--model-base-url` of inspect eval.")
@click.option(
    "--n", "sizes", callback=counts("n"), default="5,10,15", show_default=True, help="Table sizes of the full run."
)
@click.option(
    "--episodes", type=count("episodes"), default=30, show_default=True, help="Games per size in the full run."
)
@click.option("--rounds", type=count("rounds"), default=30, show_default=True, help="Horizon T of the full run.")
@click.option(
    "--model-cost-config", "price_file", type=click.Path(exists=True, dir_okay=False),
    help="Prices in Inspect's format.",
)  # fmt: skip
def check_command(
    models: Sequence[str],
    base_url: str | None,
    sizes: Sequence[int],
    episodes: int,
    rounds: int,
    price_file: str | None,
) -> None:
    """Plays two short games of three seats with each model, and reports whether it is ready for the full run.

    MODEL is a model name as Inspect accepts it. Reports whether its tool calls are read, the first lost reply with the
    usual remedy, tokens and seconds per turn, and the calls, tokens and cost of the full run. It takes 24 calls.
    """
    if not models:
        raise BadInput("No model was given: name one or more, such as openai/gpt-5 or dining/odd_even.")
    if unnamed := [model for model in models if "/" not in model]:
        raise BadInput(f"{unnamed[0]!r} is not accepted: name a model as provider/model, such as openai/gpt-5.")
    from pathlib import Path

    from rich.console import Console

    from inspect_dining.planning.check import check_model
    from inspect_dining.planning.plan import prices_from

    prices = prices_from(Path(price_file)) if price_file else None
    console = Console(highlight=False, soft_wrap=True, markup=False)
    ready = True
    for model in models:
        found = check_model(model, base_url)
        for line in found.lines(sizes, episodes, rounds, prices):
            console.print(line)
        ready = ready and found.ready
    if not ready:
        raise SystemExit(1)
