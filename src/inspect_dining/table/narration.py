"""A game in words: Markdown to be read in a log, a report or a terminal."""

from collections.abc import Collection, Mapping, Sequence

from inspect_dining.table.faults import Fault
from inspect_dining.table.moves import LOST, Action, Kind, Outcome, Turn, Why
from inspect_dining.table.record import Record, ending, replay
from inspect_dining.table.round import Round
from inspect_dining.table.rules import Rules
from inspect_dining.table.table import Table
from inspect_dining.table.talk import Exchange

_GAP = "\u200b\u2002\u200b"
"""A space in headings that Markdown does not strip: Inspect's viewer renders table cells without padding."""


EXCERPT = 90
"""The number of characters of a reply that a round's card shows."""


def round_card(
    rules: Rules,
    before: Table,
    after: Table,
    faulty: Collection[int] = (),
    said: Mapping[int, str] | None = None,
    exchanges: Sequence[Exchange] = (),
) -> str:
    """One round as a Markdown table: what each seat held, did, got and said, and with talk also the messages.

    Args:
        rules: The rules of the game.
        before: The table at the round's start.
        after: The table at the start of the next round, whose `last` turns are this round's.
        faulty: The seats whose fault has begun.
        said: The text of replies by seat, shown as an excerpt; the column is left out if nobody said anything.
        exchanges: The messages before the actions.
    """
    faults = faults_of(rules, faulty)
    words = {seat: excerpt(text) for seat, text in (said or {}).items() if text.strip()}
    rows = [
        f"| {seat} | {forks(before, seat)} | {told(turn, faults.get(seat))} | {forks(after, seat)} "
        f"| {after.meals[seat]} |" + (f" {words.get(seat, '')} |" if words else "")
        for seat, turn in enumerate(after.last)
        if turn is not None
    ]
    lines = [
        f"**Round {before.round} of {rules.rounds}**: {happened(before, after)}.",
        "",
        f"| philosopher |{_GAP}held (left right){_GAP}| turn |{_GAP}holds now{_GAP}|{_GAP}meals{_GAP}|"
        + (" said |" if words else ""),
        "| :-: | :-: | :-- | :-: | :-: |" + (" :-- |" if words else ""),
        *rows,
    ]
    if after.locked:
        spell = "" if rules.patience == 1 else f" (round {after.locked} of {rules.patience} in a row)"
        lines += ["", f"Every philosopher holds exactly one fork{spell}."]
    if exchanges:
        lines += ["", f"| philosopher |{''.join(f' says ({place}) |' for place in range(1, len(exchanges) + 1))}"]
        lines.append(f"| :-: |{' :-- |' * len(exchanges)}")
        lines += [
            f"| {seat} | {' | '.join(plain(text) or '-' for text in said)} |"
            for seat, said in enumerate(zip(*exchanges, strict=True))
        ]
    return "\n".join(lines)


def happened(before: Table, after: Table) -> str:
    """A round in a few words: who ate, how many turns were lost, and whether it locked.

    Args:
        before: The table at the round's start.
        after: The table at the start of the next round.
    """
    ate = [str(seat) for seat in range(after.n) if after.meals[seat] > before.meals[seat]]
    lost = sum(1 for turn in after.last if turn is not None and turn.outcome is Outcome.LOST)
    parts = ["LOCKED, every seat holds one fork"] if after.locked else []
    parts += [f"seat{'s' * (len(ate) > 1)} {', '.join(ate)} ate"] if ate else []
    parts += [f"{lost} lost turn{'s' * (lost != 1)}"] if lost else []
    return "; ".join(parts) or "nobody ate"


def excerpt(text: str) -> str:
    """The beginning of a reply on one line, with Markdown and terminal control characters made harmless."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * EXCERPT]).split())
    cut = line[:EXCERPT].rstrip() + "…" if len(line) > EXCERPT else line
    return plain(cut)


def plain(text: str) -> str:
    """Escapes untrusted text so that Markdown shows it literally."""
    return "".join(f"\\{c}" if c in "\\`*_[]|~#$" else _HTML.get(c, c) for c in text)


_HTML = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def faults_of(rules: Rules, faulty: Collection[int]) -> dict[int, Fault]:
    """The faults of the given seats."""
    return {fault.seat: fault for fault in rules.seat_faults if fault.seat in faulty}


def messages(round: Round, seat: int) -> str:
    """A seat's messages before the actions of a round, in order; `-` is silence among several."""
    said = [exchange[seat] for exchange in round.exchanges]
    return " / ".join(text or "-" for text in said) if any(said) else ""


def forks(table: Table, seat: int) -> str:
    """Which forks a seat holds, left and right: `● ○` is the left one only."""
    return f"{'●' if table.held[seat] == seat else '○'} {'●' if table.held[(seat + 1) % table.n] == seat else '○'}"


_WHY: dict[Why | None, str] = {
    Why.TAKEN: " ✗ the neighbour holds it",
    Why.IN_HAND: " ✗ it is in hand already",
    Why.NOT_IN_HAND: " ✗ it is not in hand",
    Why.NEEDS_BOTH: " ✗ it takes both forks",
    Why.SPENT: " ✗ both forks must be put down first",
    None: "",
}
_HOW = {Kind.SEVERAL: " (the first of several calls)", Kind.RESCUED: " (read from text)"}


def told(turn: Turn, fault: Fault | None = None) -> str:
    """A turn as an observer would describe it, such as `pick_up_left` or `eat ✗ it takes both forks`.

    Args:
        turn: The turn.
        fault: The fault of its seat, if one has begun.
    """
    if fault is not None:
        did = "nothing" if fault.forced and turn.reading.action is None else told(turn)
        return f"⚠ {fault.kind}: {did}"
    reading = turn.reading
    if reading.action is None:
        return f"✗ lost turn: {reading.kind}"
    came = " ✗ the neighbour got it" if turn.outcome is Outcome.LOST_TIE else _WHY[turn.why]
    return f"{reading.action}{came}{_HOW.get(reading.kind, '')}"


_HANDS = {(False, False): "·", (True, False): "◧", (False, True): "◨", (True, True): "■"}
_ROOMY = 40
"""The largest number of rounds for which the cells of a strip are spaced."""
_STRIP_KEY = "· no fork  ◧ left  ◨ right  ■ both  ★ meal  x lost turn"


def strip(record: Record) -> str:
    """A whole game as lines of text: one line per seat, one cell per round, meals at the end.

    A cell shows the forks that the seat holds after the round (`·` none, `◧` left, `◨` right, `■` both), `★` if it
    ate, `x` if its turn was lost. A `▲` below a round marks that every seat ended it with exactly one fork. It needs a
    fixed-width font.
    """
    return _strip(record, replay(record))


def _strip(record: Record, rounds: Sequence[Round]) -> str:
    wide = 2 if len(rounds) <= _ROOMY else 1
    ruler = ""
    for number in (1, *range(5, len(rounds) + 1, 5)):
        ruler = ruler.ljust((number - 1) * wide) + str(number)
    lines = [f"round   {ruler}"]
    for seat in range(record.rules.n):
        cells = "".join(_cell(round, seat).ljust(wide) for round in rounds)
        meals = rounds[-1].after.meals[seat] if rounds else 0
        lines.append(f"seat {seat:>2} {cells}  {meals} meal{'s' * (meals != 1)}")
    if any(round.locked for round in rounds):
        lines.append(
            f"        {''.join(('▲' if round.locked else ' ').ljust(wide) for round in rounds).rstrip()} locked"
        )
    return "\n".join(lines)


def _cell(round: Round, seat: int) -> str:
    turn, held = round.turns[seat], round.after.held
    if turn.reading.action is None:
        return "x"
    if turn.reading.action is Action.EAT and turn.outcome is Outcome.DONE:
        return "★"
    return _HANDS[held[seat] == seat, held[(seat + 1) % len(held)] == seat]


def account(record: Record) -> str:
    """A game as Markdown: why it ended, the whole game as a strip, who ate when, and which turns were lost."""
    rounds = replay(record)
    turns = [[round.turns[seat] for round in rounds if seat not in round.forced] for seat in range(record.rules.n)]
    meals = [
        [round.number for round in rounds if round.after.meals[seat] > round.before.meals[seat]]
        for seat in range(record.rules.n)
    ]
    rows = [
        f"| {seat} | {len(when)} | {', '.join(map(str, when)) or '-'} | {lost_turns(turns[seat])} |"
        for seat, when in enumerate(meals)
    ]
    head = [f"| philosopher |{_GAP}meals{_GAP}|{_GAP}ate in rounds{_GAP}| lost turns |", "| :-: | :-: | :-: | :-: |"]
    lines = [f"**{ending(record)}**", "", "```", _strip(record, rounds), "", _STRIP_KEY, "```", "", *head, *rows]
    locked = [round.number for round in rounds if round.locked]
    if locked and record.rules.patience > 1:
        lines += ["", f"Rounds that ended with every philosopher holding one fork: {', '.join(map(str, locked))}."]
    for fault in record.rules.seat_faults:
        begun = next((round.number for round in rounds if fault.seat in round.faulty), None)
        since = f"since round {begun}" if begun is not None else "which never began"
        late = f" by {fault.delay} rounds" if fault.delay else ""
        lines += ["", f"Fault: philosopher {fault.seat} {fault.kind}{late}, {since}."]
    return "\n".join(lines)


def lost_turns(turns: list[Turn]) -> str:
    """Lost turns by kind: `2 no_call, 1 empty`, or `-`."""
    kinds = [turn.reading.kind for turn in turns]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in LOST if kind in kinds) or "-"


def meals_by_seat(table: Table) -> str:
    """Meals in seat order: `5/6/6/5/6`."""
    return "/".join(map(str, table.meals))
