"""`python -m inspect_dining talk`: what messages cost and gain."""

import json
from dataclasses import asdict

import click

from inspect_dining.cli.options import as_json as json_option


@click.command(name="talk")
@click.argument("logs", nargs=-1, required=True)
@json_option
def talk_command(logs: tuple[str, ...], as_json: bool) -> None:
    """What talk costs and gains: runs of one player that differ in talk alone, beside its silent play and the placebo.

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
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="")
    heads = ("player", "n", "talk", "games", "meals", "calls", "tokens", "meals per\n1,000 calls")
    for head in (*heads, "calls a\nmeal gained", "tokens a\nmeal gained", "announced\nand done"):
        table.add_column(head, justify="left" if head == "player" else "right")
    for arm in arms:
        gained = ["-" if value is None else f"{value:,.1f}" for value in (arm.calls_gained, arm.tokens_gained)]
        talk = "placebo" if arm.control != "none" else "" if not arm.talk else "talk"
        kept = f"{arm.kept} of {arm.announcements}" if arm.announcements else "-"
        table.add_row(
            arm.player, str(arm.n), f"{talk} {arm.talk}".strip(), str(arm.games), f"{arm.meals:.2f}",
            f"{arm.calls:,.0f}", f"{arm.tokens:,.0f}", f"{arm.meals_per_1000_calls:.1f}", *gained, kept,
        )  # fmt: skip
    Console(highlight=False).print(table)
