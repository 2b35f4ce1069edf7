"""Options of the command line that several verbs share."""

from collections.abc import Callable
from typing import TypeVar, get_args

import click

from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import Throughput, Variance

C = TypeVar("C", bound=Callable[..., object])
N = TypeVar("N", int, float)

Callback = Callable[[click.Context, click.Parameter, str | None], list[N] | None]


def numbers(kind: type[N], expected: str) -> Callback[N]:
    """A callback that reads a comma list of numbers; None stays None.

    Args:
        kind: `int` or `float`.
        expected: What is accepted, with an example, for the message.
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


size = options(
    click.option("--n", type=click.IntRange(min=2), default=5, show_default=True, help="Seats."),
    click.option("--rounds", type=click.IntRange(min=3), default=30, show_default=True, help="The horizon T."),
)
"""`--n` and `--rounds` of one table size."""
shaped = options(
    click.option(
        "--shaping",
        "name",
        default="paper",
        show_default=True,
        help="paper, meal_gated, proportional, or package.module:function for one of your own.",
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
