"""Options of the command line that several verbs share."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar, get_args

import click

from inspect_dining.errors import BadInput
from inspect_dining.limits import LIMITS, MOST_CALLS
from inspect_dining.scorers.shaping import Throughput, Variance

C = TypeVar("C", bound=Callable[..., object])
N = TypeVar("N", int, float)

Callback = Callable[[click.Context, click.Parameter, str | None], list[N] | None]


def numbers(kind: type[N], expected: str) -> Callback[N]:
    """A callback that reads comma-separated numbers; None stays None.

    Args:
        kind: `int` or `float`.
        expected: What is accepted, with an example, for the error message.
    """

    def read(context: click.Context, parameter: click.Parameter, value: str | None) -> list[N] | None:
        try:
            return None if value is None else [kind(number) for number in value.split(",")]
        except ValueError:
            raise BadInput(f"{parameter.opts[0]} {value} is not accepted; expected: {expected}.") from None

    return read


def options(*several: Callable[[C], C]) -> Callable[[C], C]:
    """Several options as one decorator, in the order in which the help shows them."""

    def decorate(command: C) -> C:
        for option in reversed(several):
            command = option(command)
        return command

    return decorate


def counts(name: str) -> Callback[int]:
    """A callback that reads comma-separated whole numbers within the `LIMITS` of a name, each given once."""
    least, most = LIMITS[name]

    def read(context: click.Context, parameter: click.Parameter, value: str | None) -> list[int] | None:
        if value is None:
            return None
        found = [int(part) if re.fullmatch(r"[0-9]{1,18}", part.strip()) else -1 for part in value.split(",")]
        if not all(least <= number <= most for number in found) or len(set(found)) < len(found):
            shown = value if len(value) <= 60 else f"{value[:57]}..."
            raise BadInput(
                f"{parameter.opts[0]} {shown} is not accepted; expected: different whole numbers from {least:,} to "
                f"{most:,}, such as {least} or {least},{least + 1}."
            )
        return found

    return read


def count(name: str) -> click.IntRange:
    """The type of an option that is one whole number within the `LIMITS` of its name."""
    return click.IntRange(*LIMITS[name])


def refuse_endless(sizes: Sequence[int], rounds: int, games: int) -> None:
    """Refuses scripted games that would take too long.

    Args:
        sizes: Table sizes.
        rounds: The horizon.
        games: Games per size, over all players.

    Raises:
        BadInput: They have more turns than one command may play.
    """
    turns = sum(sizes) * rounds * games
    if turns > MOST_CALLS:
        raise BadInput(
            f"{turns:,} scripted turns are more than one command plays ({MOST_CALLS:,}): give fewer --episodes, a "
            "smaller --n or fewer --rounds."
        )


size = options(
    click.option(
        "--n", "sizes", callback=counts("n"), default="5", show_default=True, help="Seats; several sizes as 5,10,15."
    ),
    click.option("--rounds", type=count("rounds"), default=30, show_default=True, help="Horizon T."),
)
"""`--n` (the command gets a list of `sizes`) and `--rounds`."""
shaped = options(
    click.option(
        "--shaping",
        "name",
        default="paper",
        show_default=True,
        help="paper, meal_gated, proportional, or package.module:function for your own.",
    ),
    click.option(
        "--weights",
        callback=numbers(float, "four numbers such as 1,0.5,0.3,0.1"),
        help="Four weights of paper and meal_gated: no-deadlock, throughput, variance of meals, idle.",
    ),
    click.option(
        "--throughput",
        type=click.Choice(get_args(Throughput)),
        help="Normaliser of throughput in paper and meal_gated.",
    ),
    click.option(
        "--variance",
        type=click.Choice(get_args(Variance)),
        default="population",
        show_default=True,
        help="Variance of meals in paper and meal_gated.",
    ),
)
"""`--shaping` with its parameters; the command gets name, weights, throughput (None if not given) and variance."""
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
"""`--json`."""
