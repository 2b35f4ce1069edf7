"""A DPBench game as Markdown for a log."""

from inspect_dining.dpbench.game import replay
from inspect_dining.dpbench.metrics import lost_turns
from inspect_dining.dpbench.reading import Reply
from inspect_dining.dpbench.record import DEADLOCK, Record, Round
from inspect_dining.dpbench.rules import DPBenchRules
from inspect_dining.dpbench.table import Table
from inspect_dining.table.moves import Kind


def held(table: Table, seat: int) -> str:
    """The forks that a philosopher counts as held, left and right: `● ○` is the left one only."""
    return f"{'●' if table.left[seat] else '○'} {'●' if table.right[seat] else '○'}"


def did(reply: Reply) -> str:
    """A turn, such as `GRAB_LEFT`, or the kind of lost turn."""
    return reply.action.value.upper() if reply.kind is Kind.ACTION else f"✗ lost turn: {reply.kind}"


def quoted(message: str | None) -> str:
    """A message within a Markdown table, shown literally and never as markup."""
    if message is None:
        return "-"
    shown = "".join(f"&#{ord(c)};" if c in "\\`*_{}[]()<>#+!|~&$" else c for c in " ".join(message.split()))
    return f"“{shown}”"


def round_card(rules: DPBenchRules, number: int, played: Round, before: Table, after: Table) -> str:
    """One round as a Markdown table: what each philosopher held, did, said and got."""
    when = (
        f"timestep {after.timestep}" if rules.simultaneous else f"timesteps {before.timestep + 1} to {after.timestep}"
    )
    head = ["philosopher", "held (left right)", "turn", "holds now", "state", "meals"]
    rows = []
    for seat in range(rules.n):
        reply = played.reply(seat, 0)
        state = "eating" if after.eating[seat] else "hungry"
        rows.append([f"P{seat}", held(before, seat), did(reply), held(after, seat), state, str(after.meals[seat])])
        if played.said:
            rows[-1].append(" / ".join(quoted(each[seat]) for each in played.said))
    if played.said:
        head.append("said" if rules.discussions == 0 else f"said in {rules.discussions} rounds, and with the action")
    lines = [
        f"**Round {number}**, {when} of {rules.timesteps} (table `{after.hash}`)",
        "",
        f"| {' | '.join(head)} |",
        f"| {' | '.join(':--' if place in (2, 6) else ':-:' for place in range(len(head)))} |",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    if after.deadlocked:
        lines += ["", "Every philosopher is hungry and holds exactly one fork."]
    if after.phantoms:
        lines += ["", f"{after.phantoms} of them count a fork as held that is not theirs, as in dpbench 0.2.1."]
    return "\n".join(lines)


def ending(record: Record) -> str:
    """Why a game ended, in a sentence."""
    rules, played = record.rules, record.timesteps
    if record.ended == DEADLOCK:
        unreported = rules.exact and not rules.simultaneous
        note = "; dpbench 0.2.1 does not report it" if unreported else ""
        return f"Deadlock after {played} timesteps{note}."
    if record.complete:
        return f"No deadlock ended the game within {rules.timesteps} timesteps."
    return f"Cut after {played} timesteps ({record.ended.removeprefix('cut: ')}); a cut game is not scored."


def account(record: Record) -> str:
    """A game as Markdown: why it ended, the meals of each philosopher, and which turns were lost."""
    meals = replay(record).tables[-1].meals
    rows = [f"| P{seat} | {count} |" for seat, count in enumerate(meals)]
    lost = ", ".join(f"{count} {kind}" for kind, count in lost_turns(record).items() if count) or "none"
    return "\n".join([
        ending(record),
        "",
        "| philosopher | meals |",
        "| :-: | :-: |",
        *rows,
        "",
        f"Lost turns: {lost}.",
    ])
