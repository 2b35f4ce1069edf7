"""`python -m inspect_dining talk`: what messages cost and gain."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from inspect_dining.cli.options import as_json as json_option

if TYPE_CHECKING:
    from rich.table import Table

    from inspect_dining.analysis.comparison.talk_price import Arm


@click.command(name="talk")
@click.argument("logs", nargs=-1, required=True)
@json_option
def talk_command(logs: tuple[str, ...], as_json: bool) -> None:
    """What talk costs and gains: runs of one player that differ only in talk, with its silent play and the placebo.

    LOGS are Inspect log files or folders of them. An announcement is a message in the form of the scripted talkers,
    `Round 3: I will eat.`; free text is not read.
    """
    from inspect_dining.analysis.comparison.talk_price import price_of_talk
    from inspect_dining.analysis.inputs.collection import read
    from inspect_dining.errors import BadInput

    found = read(list(logs))
    arms = price_of_talk(found)
    if not arms:
        raise BadInput(f"There is no game that ended in {', '.join(logs)}.")
    if as_json:
        click.echo(json.dumps({"arms": [asdict(arm) for arm in arms]}, indent=1, allow_nan=False))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(_table(
        "Meals and what they cost, means of a game", ["games", "meals", "calls", "tokens", "meals a\n1,000 calls"],
        [(arm, [str(arm.games), f"{arm.meals:.2f}", f"{arm.calls:,.0f}", f"{arm.tokens:,.0f}",
                f"{arm.meals_per_1000_calls:.1f}"]) for arm in arms],
    ))  # fmt: skip
    console.print()
    console.print(_table(
        "What talk gains over silent play", ["calls a\nmeal gained", "tokens a\nmeal gained", "announced\nand done"],
        [(arm, [*(NONE if value is None else f"{value:,.1f}" for value in (arm.calls_gained, arm.tokens_gained)),
                f"{arm.kept} of {arm.announcements}" if arm.announcements else NONE]) for arm in arms if arm.talk],
    ))  # fmt: skip
    console.print(Text(LEGEND, "dim"))


NONE = "-"
LEGEND = (
    "Talk is the number of messages of a seat in a round; in the placebo they come from another game. A - stands where "
    "there is no silent play of the same player, n and prompt, where talk gained no meal, or where nothing was "
    "announced."
)


def _table(title: str, heads: Sequence[str], rows: "Sequence[tuple[Arm, Sequence[str]]]") -> "Table":
    """A table of arms; prompts are named if they differ."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    prompts = len({arm.prompt for arm, _ in rows}) > 1
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), title=title, title_justify="left",
        title_style="bold", header_style="",
    )  # fmt: skip
    table.add_column("player", overflow="fold")
    for head in ("n", *(["prompt"] if prompts else []), "talk", *heads):
        table.add_column(head, justify="right" if head in ("n", *heads) else "left", no_wrap=head in ("n", "talk"))
    for arm, cells in rows:
        talk = f"{arm.talk} placebo" if arm.control != "none" else str(arm.talk)
        table.add_row(Text(arm.player), str(arm.n), *([Text(arm.prompt)] if prompts else []), talk, *cells)
    return table
