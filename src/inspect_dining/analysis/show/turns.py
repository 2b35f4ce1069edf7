"""`replay` in detail: one round, or one seat's turns, with the words of each turn."""

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from inspect_dining.analysis.show.said import Said
from inspect_dining.errors import BadInput
from inspect_dining.table.narration import faults_of, forks, happened, messages, told
from inspect_dining.table.record import Record, ending, replay
from inspect_dining.table.round import Round

LONGEST = 400
"""The maximum characters of a reply that are shown."""


def round_in_detail(record: Record, number: int, said: Said) -> RenderableType:
    """One round: what each seat held, did, got and said.

    Raises:
        BadInput: The game has no such round.
    """
    rounds = replay(record)
    if not 1 <= number <= len(rounds):
        raise BadInput(f"--round {number} is not accepted: this game has rounds 1 to {len(rounds)}.")
    round = rounds[number - 1]
    table = _table("seat", record)
    for seat in range(record.rules.n):
        table.add_row(str(seat), *_cells(record, round, seat, said))
    head = Text(f"Round {number} of {record.rules.rounds}: {happened(round.before, round.after)}", "bold")
    last = [Text(ending(record), "bold")] if number == len(rounds) else []
    return Group(head, table, *last)


def seat_in_detail(record: Record, seat: int, said: Said) -> RenderableType:
    """All turns of one seat.

    Raises:
        BadInput: The table has no such seat.
    """
    if not 0 <= seat < record.rules.n:
        raise BadInput(f"--seat {seat} is not accepted: this table has seats 0 to {record.rules.n - 1}.")
    table = _table("round", record)
    for round in replay(record):
        table.add_row(str(round.number), *_cells(record, round, seat, said))
    return Group(Text(f"Seat {seat}", "bold"), table, Text(ending(record), "bold"))


def rounds_in_detail(record: Record, said: Said) -> Iterator[RenderableType]:
    """Every round, in order."""
    for number in range(1, len(replay(record)) + 1):
        yield round_in_detail(record, number, said)


def _table(first: str, record: Record) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="")
    table.add_column(first, justify="right")
    if record.rules.talk:
        table.add_column("says before", overflow="fold", ratio=1)
    for name in ("held", "turn", "holds", "meals"):
        table.add_column(name, no_wrap=name != "turn", justify="right" if name == "meals" else "left")
    table.add_column("said", overflow="fold", ratio=1)
    return table


def _cells(record: Record, round: Round, seat: int, said: Said) -> list[Text]:
    words = said.get((round.number, seat), "")
    cut = words[:LONGEST].rstrip() + "…" if len(words) > LONGEST else words
    return [
        *([Text(messages(round, seat))] if record.rules.talk else []),
        Text(forks(round.before, seat)),
        Text(told(round.turns[seat], faults_of(record.rules, round.faulty).get(seat))),
        Text(forks(round.after, seat)),
        Text(str(round.after.meals[seat])),
        Text(cut, "dim"),
    ]
