"""A game in words: Markdown that a person reads in a log, a report or a terminal."""

from inspect_dining.table.moves import LOST, Turn
from inspect_dining.table.record import Record, replay
from inspect_dining.table.rules import Rules
from inspect_dining.table.table import Table
from inspect_dining.table.view import describe


def round_card(rules: Rules, before: Table, after: Table) -> str:
    """One round as a Markdown table: what each seat held, did and got.

    Args:
        rules: The rules of the game.
        before: The table at the round's start.
        after: The table at the start of the next round, whose `last` turns are this round's.
    """
    rows = [
        f"| {seat} | {forks(before, seat)} | {describe(turn)} | {forks(after, seat)} | {after.meals[seat]} |"
        for seat, turn in enumerate(after.last)
    ]
    lines = [
        f"**Round {before.round} of {rules.rounds}** (table `{before.hash}`)",
        "",
        "| philosopher | held (left right) | turn | holds now | meals |",
        "| :-: | :-: | :-- | :-: | :-: |",
        *rows,
    ]
    if after.locked:
        spell = "" if rules.patience == 1 else f" (round {after.locked} of {rules.patience} in a row)"
        lines += ["", f"Every philosopher holds exactly one fork{spell}."]
    return "\n".join(lines)


def forks(table: Table, seat: int) -> str:
    """Which forks a seat holds, left and right: `● ○` is the left one only."""
    return f"{'●' if table.held[seat] == seat else '○'} {'●' if table.held[(seat + 1) % table.n] == seat else '○'}"


def ending(record: Record) -> str:
    """Why a game ended, in a sentence."""
    played, rules = len(record.rounds), record.rules
    if record.deadlocked:
        return f"Deadlock in round {played} of {rules.rounds}: every philosopher held exactly one fork" + (
            "." if rules.patience == 1 else f" for {rules.patience} rounds in a row."
        )
    if record.complete:
        return f"No deadlock in all {rules.rounds} rounds."
    reason = record.ended.removeprefix("cut: ")
    return f"Cut after {played} of {rules.rounds} rounds ({reason}); a cut game is not scored."


def account(record: Record) -> str:
    """A game as Markdown: why it ended, who ate when, and which turns were lost."""
    rounds = replay(record)
    turns = [[round.turns[seat] for round in rounds] for seat in range(record.rules.n)]
    meals = [
        [round.number for round in rounds if round.after.meals[seat] > round.before.meals[seat]]
        for seat in range(record.rules.n)
    ]
    rows = [
        f"| {seat} | {len(when)} | {', '.join(map(str, when)) or '-'} | {lost_turns(turns[seat])} |"
        for seat, when in enumerate(meals)
    ]
    head = ["| philosopher | meals | ate in rounds | lost turns |", "| :-: | :-: | :-: | :-: |"]
    lines = [ending(record), "", *head, *rows]
    locked = [round.number for round in rounds if round.locked]
    if locked and record.rules.patience > 1:
        lines += ["", f"Rounds that ended with every philosopher holding one fork: {', '.join(map(str, locked))}."]
    return "\n".join(lines)


def lost_turns(turns: list[Turn]) -> str:
    """Lost turns by kind: `2 no_call, 1 empty`, or `-`."""
    kinds = [turn.reading.kind for turn in turns]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in LOST if kind in kinds) or "-"


def meals_by_seat(table: Table) -> str:
    """Meals in seat order: `5/6/6/5/6`."""
    return "/".join(map(str, table.meals))
