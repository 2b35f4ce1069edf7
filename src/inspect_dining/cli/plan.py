"""`python -m inspect_dining plan`: what a run takes, and what it can detect, before it is started."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from inspect_dining.cli.options import as_json as json_option
from inspect_dining.cli.options import count, counts
from inspect_dining.errors import BadInput
from inspect_dining.table.rules import TalkControl

if TYPE_CHECKING:
    from inspect_ai.model import ModelCost
    from rich.console import RenderableType

    from inspect_dining.planning.plan import Plan, Tells
    from inspect_dining.planning.power import Needed

ALPHA, POWER = 0.05, 0.8
"""The defaults of `--alpha` and `--power`, the same as in `statistics`."""


@click.command(name="plan")
@click.option(
    "--n",
    "sizes",
    callback=counts("n"),
    default="5,10,15",
    show_default=True,
    help="Table sizes.",
)
@click.option("--episodes", type=count("episodes"), default=30, show_default=True, help="Games per size.")
@click.option("--rounds", type=count("rounds"), default=30, show_default=True, help="Horizon T.")
@click.option(
    "--talk",
    type=count("talk"),
    default=0,
    show_default=True,
    help="Messages per seat and round; each is one more call.",
)
@click.option(
    "--talk-control",
    type=click.Choice(get_args(TalkControl)),
    default="none",
    show_default=True,
    help="`shuffled` plays a second game and delivers its messages.",
)
@click.option(
    "--epochs", type=click.IntRange(min=1), default=1, show_default=True, help="How often each game is played."
)
@click.option("--model", "models", multiple=True, help="A model name as Inspect accepts it; each model is one arm.")
@click.option("--prompt-tokens", type=click.IntRange(min=1), help="Input tokens per call, tools included.")
@click.option("--reply-tokens", type=click.IntRange(min=1), help="Output tokens per call.")
@click.option("--log", "logs", multiple=True, help="Measure both from the calls of an existing log instead.")
@click.option("--model-cost-config", "price_file", type=click.Path(path_type=Path), help="Prices in Inspect's format.")
@click.option(
    "--shares", type=(float, float), help="Episodes to tell these two shares of games without deadlock apart."
)
@click.option(
    "--means", type=(float, float), help="Episodes to tell a difference of means, given a standard deviation."
)
@click.option("--power", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=POWER, show_default=True)
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=ALPHA, show_default=True)
@json_option
def plan_command(
    sizes: Sequence[int],
    episodes: int,
    rounds: int,
    talk: int,
    talk_control: TalkControl,
    epochs: int,
    models: Sequence[str],
    prompt_tokens: int | None,
    reply_tokens: int | None,
    logs: Sequence[str],
    price_file: Path | None,
    shares: tuple[float, float] | None,
    means: tuple[float, float] | None,
    power: float,
    alpha: float,
    as_json: bool,
) -> None:
    """What a run takes, and what it can detect.

    Counts games and model calls, their tokens and cost if these can be known, the smallest difference between two
    models that the episodes of one size can detect, and how many episodes a given difference takes.
    """
    from rich.console import Console

    from inspect_dining.planning.plan import Tokens, plan, prices_from, tell, tokens_from

    if logs and (prompt_tokens or reply_tokens):
        raise BadInput("--log measures tokens; it cannot be combined with --prompt-tokens or --reply-tokens.")
    prices = prices_from(price_file) if price_file else None
    tokens = tokens_from(logs) if logs else Tokens(prompt_tokens, reply_tokens, 0.0, 0.0, "as stated")
    planned = plan(sizes, episodes, rounds, epochs, models, tokens, prices, talk, talk_control)
    told = tell(episodes, shares, means, alpha, power)
    if as_json:
        click.echo(json.dumps({"plan": asdict(planned), "tells": asdict(told)}, indent=1, allow_nan=False))
    else:
        Console(highlight=False).print(_tables(planned, told, prices))


def _tables(planned: "Plan", told: "Tells", prices: "dict[str, ModelCost] | None") -> "RenderableType":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from inspect_dining.statistics import FEWEST
    from inspect_dining.statistics.power import MOST_CELLS

    take = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    tells = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for table in (take, tells):
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column()
    sizes = ", ".join(f"{games:,} at n={n}" for n, games in planned.sizes.items())
    arms = f" for each of {len(planned.models)} models" if len(planned.models) > 1 else ""
    tokens = planned.tokens
    take.add_row("games", f"{planned.games:,}", sizes + arms)
    take.add_row("model calls", f"{planned.calls:,}", "at most; a game that deadlocks ends early")
    take.add_row("tokens in", _amount(planned.input_tokens), _each(tokens.input, tokens.source, "--prompt-tokens"))
    take.add_row("tokens out", _amount(planned.output_tokens), _each(tokens.output, tokens.source, "--reply-tokens"))
    for model, cost in planned.costs.items():
        take.add_row(f"cost of {model}", "unknown" if cost is None else f"${cost:,.2f}", _why(model, cost, prices))
    if not planned.costs:
        take.add_row("cost", "unknown", "name a --model and a --model-cost-config")
    above = _share(told.above, told.episodes)
    below = _share(told.below, told.episodes)
    spread = "-" if told.standard_deviations is None else f"{told.standard_deviations:.3f}"
    missing = "not computed for so many games" if told.episodes**2 > MOST_CELLS else ""
    tells.add_row(
        f"no_deadlock {told.share:g} from",
        above,
        "or more" if told.above is not None else missing or "nothing above it",
    )
    tells.add_row(
        "",
        below,
        missing or "nothing below it" if told.below is None else "or less" if told.below > 0 else "alone",
    )
    means = f"no t-test is made of fewer than {FEWEST} games" if spread == "-" else "standard deviations or more"
    tells.add_row("two means that differ by", spread, means)
    wanted = []
    if told.shares is not None:
        first, second = told.shares
        wanted.append(f"To tell no_deadlock {first:g} from {second:g} takes {_needed(told.shares_take)}.")
    if told.means is not None:
        difference, deviation = told.means
        apart = f"To tell means {difference:g} apart with a standard deviation of {deviation:g}"
        wanted.append(f"{apart} takes {_needed(told.means_take)}.")
    tells_head = (
        f"{told.episodes:,} episodes of each of two models can tell ({told.power:.0%} power, alpha {told.alpha:g})"
    )
    heads = Text("The run takes", "bold"), Text(tells_head, "bold")
    return Group(heads[0], take, "", heads[1], tells, *(Text(f"\n{line}") for line in wanted))


def _share(share: float | None, episodes: int) -> str:
    """A share with as many digits as its power needs: a hundred games resolve thousandths."""
    return "-" if share is None else f"{share:.{3 if episodes <= 100 else 4}f}"


def _needed(needed: "Needed | None") -> str:
    if needed is None:
        return "nothing"
    test = "Welch's t-test" if needed.test == "Welch" else f"{needed.test}'s exact test"
    if needed.power is None:
        return f"about {needed.episodes:,} episodes of each model (by the normal approximation)"
    return f"{needed.episodes:,} episodes of each model ({test}, power {needed.power:.3f})"


def _amount(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


def _each(tokens: float | None, source: str, option: str) -> str:
    return f"state {option}, or measure with --log" if tokens is None else f"at most; {tokens:,.0f} a call, {source}"


def _why(model: str, cost: float | None, prices: "dict[str, ModelCost] | None") -> str:
    if cost is not None:
        return "at most"
    if prices is None:
        return "there is no --model-cost-config"
    if model not in prices:
        return f"the price file has {', '.join(prices) or 'no model'}"
    return "its tokens are unknown"
