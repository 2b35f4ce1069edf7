"""The tables of the audit and the ladder, for a terminal of 80 columns or more, and for a file."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from inspect_dining.audit.assessment import Audit, Standing, agreement
from inspect_dining.audit.frontier import counted, told
from inspect_dining.audit.ladder import GROUPS, SEAT_BLIND, Rung
from inspect_dining.audit.seat_blind import price_note
from inspect_dining.statistics import Estimate


def audit_tables(found: Audit, rows: Sequence[Standing], episodes: int) -> RenderableType:
    """An audit with the standings of scripted players, if there are any.

    Args:
        found: The audit.
        rows: The standings.
        episodes: The number of games behind the standings.
    """
    failed = len(found.failed)
    verdict = Text(f"lacks {failed} of {len(found.properties)} properties", "bold red")
    if not failed:
        verdict = Text(f"has all {len(found.properties)} properties", "bold green")
    heading = Text.assemble((f"{found.shaping} at n={found.n}, T={found.rounds}: ", "bold"), verdict)
    parts: list[RenderableType] = [heading, "", _summary(found), "", _properties(found), "", _frontier(found), ""]
    if rows:
        parts += [_standings(rows, episodes), ""]
    return Group(*parts)


def notes(audits: Sequence[Audit], deadlock: float, chances: Mapping[int, float]) -> RenderableType:
    """The notes below all audits: groups without spread, the method, and the quantities that were not varied.

    Args:
        audits: The audits.
        deadlock: How often the policy to train deadlocks.
        chances: For each group size, its chance of no spread.
    """
    told_chances = ", ".join(f"{chance:.0%} of groups of {size}" for size, chance in chances.items())
    lines = [
        f"A policy that deadlocks in {deadlock:.0%} of episodes and else earns alike: no spread in {told_chances}."
    ]
    lines += dict.fromkeys(found.method for found in audits)
    lines += dict.fromkeys(found.held_fixed for found in audits)
    return Text("\n".join(lines), "dim")


def _table(title: str) -> Table:
    return Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="",
    )


def _summary(found: Audit) -> Table:
    best, fair, silence = found.best, found.best_fair, found.silence
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    bound = "" if best.exact else " (an upper bound)"
    risk, means = f"{fair.break_even:.1%}", "above it the best silent player earns more"
    if fair.break_even == 0:
        risk, means = "none", "the best silent player earns more than any fair play"
    elif fair.break_even == 1:
        risk, means = "any", "even certain deadlock earns as much as the best silent player"
    table.add_row("best silent player", f"{silence.reward:.3f}", silence.how)
    table.add_row("best fair play", f"{fair.reward:.3f}", f"{counted(fair.split)} of {best.meals}{bound}")
    table.add_row("deadlock in round 1", f"{found.early_deadlock:.3f}", "before anyone ate")
    table.add_row("break-even deadlock risk", risk, means)
    return table


def _properties(found: Audit) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for one in found.properties:
        mark = Text("pass", "green") if one.passed else Text("FAIL", "bold red")
        table.add_row(mark, Text.assemble(f"{one.claim}.\n", (one.detail, "dim")))
    return table


def _frontier(found: Audit) -> Table:
    table = _table("Reward by meals, evenly split")
    table.add_column("meals", justify="right")
    table.add_column("split")
    for name in ("reward", "in deadlock", "break-even risk"):
        table.add_column(name, justify="right", no_wrap=True)
    most, best = found.best.meals, found.best_fair.meals
    shown = {0, 1, 2, 3, most // 4, most // 2, 3 * most // 4, best, most}
    for point in found.frontier:
        if point.meals in shown:
            locked = "-" if point.in_deadlock is None else f"{point.in_deadlock:.3f}"
            risk = f"{point.break_even:.1%}" if point.break_even else "-"
            style = "bold" if point.meals == best else ""
            table.add_row(str(point.meals), told(point.split), f"{point.reward:.3f}", locked, risk, style=style)
    return table


def _standings(rows: Sequence[Standing], episodes: int) -> Group:
    table = _table(f"Scripted players by reward, and their place by efficiency ({episodes:,} games of each)")
    table.add_column("", no_wrap=True)
    table.add_column("player", no_wrap=True)
    table.add_column("reward", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("efficiency", justify="right", no_wrap=True)
    table.add_column("meals", justify="right")
    for size in GROUPS:
        table.add_column(f"alike\nin {size}", justify="right", no_wrap=True)
    for row in rows:
        chances = [f"{row.no_spread[size]:.0%}" for size in GROUPS]
        places = f"{row.by_reward:>2}.", f"{row.by_efficiency:>2}."
        efficiency, meals = f"{row.efficiency.mean or 0.0:.3f}", f"{row.meals:.1f}"
        table.add_row(places[0], row.player, _reach(row.reward), places[1], efficiency, meals, *chances)
    tau = agreement(rows)
    orders = "undefined" if tau is None else f"{tau:.2f}"
    note = f"Kendall's tau of the two orders: {orders}. Alike in 3: how often 3 episodes of one game earn the same."
    return Group(table, Text(note, "dim"))


def _reach(score: Estimate) -> str:
    if score.mean is None or score.interval is None:
        return f"{score.mean or 0.0:.3f}"
    # An interval that ends at a bound of the score is shorter on that side.
    return f"{score.mean:.3f} ±{max(score.interval.high - score.mean, score.mean - score.interval.low):.3f}"


def _ends(score: Estimate) -> str:
    ends = "" if score.interval is None else f" ({score.interval.low:.2f}-{score.interval.high:.2f})"
    return f"{score.mean or 0.0:.2f}{ends}"


def ladder_tables(rungs: Sequence[Rung], reward: str) -> RenderableType:
    """The ladder: efficiency and deadlock with all values of patience side by side, then the other eight scores.

    Args:
        rungs: The rungs.
        reward: The name of the shaping that gives `reward`.
    """
    by_player = [list(rows) for _, rows in groupby(rungs, key=lambda rung: rung.player)]
    rules, episodes = rungs[0].rules, rungs[0].episodes
    options = "".join(f", {key}={value}" for key, value in rules.options().items() if key not in _IN_HEADING)
    first = _table(f"n={rules.n}, T={rules.rounds}{options}: {episodes:,} games of each player, 95% intervals")
    first.add_column("player", no_wrap=True)
    for name in ("efficiency", "no_deadlock"):
        for rung in by_player[0]:
            first.add_column(f"{name}\npatience {rung.rules.patience}", justify="right")
    for rows in by_player:
        cells = [_reach(rung.scores["efficiency"]) for rung in rows]
        cells += [_ends(rung.scores["no_deadlock"]) for rung in rows]
        first.add_row(rows[0].player, *cells)
    others = [name for name in rungs[0].scores if name not in ("efficiency", "no_deadlock")]
    notes = [Text(f"reward: {reward}", "dim")]
    if any(rung.player == SEAT_BLIND for rung in rungs):
        notes.append(Text(price_note(rules.n), "dim"))
    return Group(first, "", _scores(by_player, others[:4]), "", _scores(by_player, others[4:]), "", *notes)


_IN_HEADING = ("n", "rounds", "patience")


def _scores(by_player: Sequence[Sequence[Rung]], names: Sequence[str]) -> Table:
    table = _table("")
    table.title = None
    table.add_column("player, patience", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right")
    for rows in by_player:
        for index, rung in enumerate(rows):
            label = f"{'' if index else rung.player:<13} {rung.rules.patience:>2}"
            table.add_row(label, *(_reach(rung.scores[name]) for name in names))
    return table
