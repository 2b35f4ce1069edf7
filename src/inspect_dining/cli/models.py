"""`python -m inspect_dining models`: how to run each system of the paper."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from inspect_dining.cli.options import as_json as json_option
from inspect_dining.cli.options import count, counts

if TYPE_CHECKING:
    from rich.console import RenderableType

    from inspect_dining.planning.presets import Presets, System, Way

_TESTED = {
    True: "Inspect's class for it plays whole games against a loopback server in the tests; the model was not asked",
    False: "untested",
}


@click.command(name="models")
@click.argument("name", default="", metavar="[NAME]")
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
@json_option
def models_command(name: str, sizes: Sequence[int], episodes: int, rounds: int, as_json: bool) -> None:
    """How to run each system of the paper.

    Prints, for each system, the command of its evaluation (and of its server, if it is local), what its tool calls
    need, and the calls and tokens of the run. NAME, a part of a system's name, selects some of them.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from inspect_dining.planning.presets import named, presets

    known = presets()
    found = named(name)
    for way in found[0].ways:
        known.takes(way, sizes, episodes, rounds)  # refuses invalid sizes before anything is printed
    if as_json:
        systems = [_told(known, system, sizes, episodes, rounds) for system in found]
        click.echo(json.dumps({"dated": known.dated.isoformat(), "systems": systems}, indent=1, allow_nan=False))
        return
    console = Console(highlight=False)
    for system in found:
        for way in system.ways:
            console.print(_shown(known, system, way, sizes, episodes, rounds), "")
    used = {source: None for system in found for way in system.ways for source in way.sources()}
    keys = Table.grid(padding=(0, 2, 0, 0))
    for source in ["paper", *(source for source in used if source != "paper")]:
        keys.add_row(Text(f"[{source}]"), Text(known.sources[source]))
    console.print(Text(f"Sources, as of {known.dated.isoformat()}", "bold"), keys)


def _told(known: "Presets", system: "System", sizes: Sequence[int], episodes: int, rounds: int) -> dict[str, object]:
    return {
        "name": system.name,
        "table": system.table,
        "ways": [_way_told(known, way, sizes, episodes, rounds) for way in system.ways],
    }


def _way_told(known: "Presets", way: "Way", sizes: Sequence[int], episodes: int, rounds: int) -> dict[str, object]:
    takes = known.takes(way, sizes, episodes, rounds)
    return {
        "model": way.model,
        "model_source": known.sources[way.id_source],
        "check": way.check,
        "tested": way.tested,
        "install": way.install,
        "key": way.key,
        "train": way.trained(),
        "serve": way.served(),
        "serve_source": known.sources[way.serve_source] if way.serve_source else None,
        "eval": way.evaluated(sizes, episodes, rounds),
        "eval_without_thinking": way.evaluated(sizes, episodes, rounds, thinking=False) if way.thinking_off else None,
        "needs": {"text": way.needs.text, "source": known.sources[way.needs.source]},
        "games": takes.games,
        "calls": takes.calls,
        "input_tokens": takes.input_tokens,
        "input_tokens_source": takes.tokens.source,
        "output_tokens": takes.output_tokens,
        "notes": [{"text": note.text, "source": known.sources[note.source]} for note in way.notes],
    }


def _shown(
    known: "Presets", system: "System", way: "Way", sizes: Sequence[int], episodes: int, rounds: int
) -> "RenderableType":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from inspect_dining.planning.presets import pasteable

    takes = known.takes(way, sizes, episodes, rounds)
    head = Text.assemble((system.name, "bold"), f" ({system.table})")
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column()
    rows.add_row("model", Text(f"{way.model} [{way.id_source}]"))
    rows.add_row("check", Text(f"{way.check}; the paper prints no id"))
    rows.add_row("tested", Text(_TESTED[way.tested]))
    rows.add_row("install", Text(way.install + (f"; the key is read from {way.key}" if way.key else "")))
    rows.add_row("tool calls", Text(f"{way.needs.text} [{way.needs.source}]"))
    rows.add_row("calls", Text(f"{takes.calls:,} at most, in {takes.games:,} games"))
    rows.add_row("tokens in", Text(_tokens_in(takes.input_tokens, way)))
    rows.add_row("tokens out", Text(f"{takes.output_tokens:,} at most, {known.reply_limit:,} a call"))
    for note in way.notes:
        rows.add_row("note", Text(f"{note.text} [{note.source}]"))
    commands: list[RenderableType] = []
    quiet = way.evaluated(sizes, episodes, rounds, thinking=False) if way.thinking_off else None
    for title, words in (
        ("train the adapter, untested with these weights", way.trained()),
        (f"serve it, untested with these weights [{way.serve_source}]", way.served()),
        ("evaluate it" if way.tested else "evaluate it, untested", way.evaluated(sizes, episodes, rounds)),
        ("evaluate it without thinking", quiet),
    ):
        if words:
            commands += [Text(f"# {title}", "dim"), Text(pasteable(words), no_wrap=True, overflow="ignore")]
    return Group(head, rows, *commands)


def _tokens_in(tokens: int | None, way: "Way") -> str:
    if tokens is None:
        return "unknown; play a few games and measure them with plan --log"
    return f"{tokens:,} at most, {way.prompt_tokens:,} a call [{way.prompt_source}]"
