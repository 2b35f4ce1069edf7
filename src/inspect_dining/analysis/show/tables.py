"""The terminal tables of a comparison, for 80 columns or more."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from inspect_dining.analysis.comparison.compare import Comparison, Section
from inspect_dining.analysis.comparison.contrasts import Contrast
from inspect_dining.analysis.comparison.rows import Row
from inspect_dining.analysis.show import formatting
from inspect_dining.crossplay.tables import matrix_tables
from inspect_dining.scorers.catalogue import FAULT_SCORES, SCORES

PANELS = (
    ("efficiency", "no_deadlock", "reward", "proportional"),
    ("throughput", "meal_variance", "jain"),
    ("starved", "idle", "lost_turns"),
)
"""The scores, in tables that fit 80 columns."""


def comparison_tables(found: Comparison) -> RenderableType:
    """All tables of a comparison."""
    parts: list[RenderableType] = []
    for section in found.sections:
        parts += [*_section(section, found.primary), ""]
    parts.append(Text(legend(found), "dim"))
    if found.notes:
        parts += ["", *(Text(f"- {note}", "yellow") for note in found.notes)]
    return Group(*parts)


def heading(section: Section) -> str:
    """The set-up of a table in one line; it always names the hint."""
    unsaid = {"rounds", "sent", *section.rules.unsaid}
    told = ", ".join(f"{name} {value}" for name, value in section.setup if name not in unsaid)
    return f"n = {section.n}, {section.rules.rounds} rounds ({told})"


def legend(found: Comparison) -> str:
    """An explanation of the numbers, in a few sentences."""
    contrasts = [contrast for section in found.sections for contrast in section.contrasts]
    exact = sorted({contrast.exact.name for contrast in contrasts if contrast.exact is not None})
    tests = sorted({contrast.means.name for contrast in contrasts if contrast.means is not None})
    used = [{"Welch": "Welch's t", "paired t": "the paired t"}[name] for name in tests]
    told = f"{' and '.join(used)} with Hedges' g" if used else "none for means"
    told += f", for no_deadlock {' or '.join(exact)}'s test with Newcombe's interval" if exact else ""
    return (
        "The game is the unit; epochs of a game count once, with their mean. Intervals are 95%: Wilson's for "
        "no_deadlock and survival, for other scores Student's t, wider where scores are skewed; where none would "
        f"hold, none is given. Tests: {told}. Two models that played the same games are paired by game. The primary "
        f"outcome is {found.primary}: its contrasts, of all pairs and sizes, are one family under Holm, and those "
        "of all other outcomes another. Detectable is the smallest difference that the test finds in so many games "
        "with 80% power."
    )


def pairing(contrasts: Sequence[Contrast]) -> str:
    """Which contrasts are paired by game, how the games correlate, and what that changes, one sentence each."""
    told = []
    for one in contrasts:
        pair = f"{one.outcome} {one.second.letter} - {one.first.letter}"
        if not one.pairs:
            told.append(f"{pair}: different games, unpaired.")
            continue
        correlation = one.means.correlation if one.means is not None else None
        r = "" if correlation is None else f" (r = {formatting.number(correlation, 2)})"
        p = formatting.p_value(one.unpaired_p)
        alone = "" if one.unpaired_p is None else f"; unpaired p {p.replace('<', '< ') if '<' in p else f'= {p}'}"
        told.append(f"{pair}: paired by the {one.pairs} games that both played{r}{alone}.")
    return "\n".join(told)


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


def _section(section: Section, primary: str) -> list[RenderableType]:
    parts: list[RenderableType] = [Text(heading(section), "bold reverse"), "", _episodes(section.rows), ""]
    for index, names in enumerate(PANELS):
        parts += [_scores(section, names, ladder=index == 0), ""]
    parts += [_deadlock(section), ""]
    if any(row.beside_faults for row in section.rows):
        parts += [_faults(section), ""]
    if section.matrix is not None:
        parts += [matrix_tables(section.matrix), ""]
    if section.contrasts:
        parts += [_contrasts(f"Contrasts of {primary}, the primary outcome", _of(section, True)), ""]
        parts += [_contrasts("Contrasts of the other outcomes", _of(section, False)), ""]
    return parts


def _of(section: Section, primary: bool) -> list[Contrast]:
    return [contrast for contrast in section.contrasts if contrast.primary is primary]


def _episodes(rows: Sequence[Row]) -> Table:
    table = _table("Episodes")
    table.add_column("model", overflow="fold")
    for name in ("planned", "scored", "cut", "errored", "distinct", "tokens\na meal", "cost\na meal"):
        table.add_column(name, justify="right")
    losing = any(sum(row.summary.lost.values()) for row in rows)
    if losing:
        table.add_column("lost turns by kind")
    for row in rows:
        if row.counts is None or row.spent is None:
            continue
        counts = row.counts
        numbers = counts.planned, counts.scored, counts.cut, counts.errored, counts.distinct
        table.add_row(
            Text(named(row)),
            *map(str, numbers),
            formatting.per_meal(row.spent.tokens_per_meal, formatting.UNDEFINED),
            cost(row),
            *([formatting.lost(row.summary.lost)] if losing else []),
        )
    return table


def cost(row: Row) -> str:
    """Cost per meal: `unknown` without prices, `undefined` without meals."""
    if row.spent is None or row.spent.cost is None:
        return formatting.UNKNOWN
    return formatting.per_meal(row.spent.cost_per_meal, formatting.UNDEFINED)


def _scores(section: Section, names: Sequence[str], ladder: bool) -> Table:
    table = _table("Scores" if ladder else "Scores, continued")
    table.add_column("model", overflow="fold")
    for name in names:
        table.add_column(f"{name}\n(best {SCORES[name].best})", justify="right")
    for row in section.rows:
        table.add_row(Text(named(row)), *_cells(row, names))
    if ladder and section.ladder:
        episodes = section.ladder[0].summary.estimates[names[0]].episodes
        table.add_row(Text(f"scripted, {episodes} games each", "dim italic"))
        for row in section.ladder:
            table.add_row(Text(named(row)), *_cells(row, names), style="dim")
    return table


def _cells(row: Row, names: Sequence[str]) -> list[str]:
    return [formatting.estimate(row.summary.estimates.get(name), SCORES[name].share) for name in names]


def _deadlock(section: Section) -> Table:
    table = _table("Not deadlocked by round, and locked in round 1 against independent seats")
    table.padding = (0, 0)  # fits 80 columns
    table.add_column("")
    rows = [*section.rows, *(row for row in section.ladder if row.label == "random")]
    told = list(rows[0].summary.survival)
    for number in told:
        table.add_column(f"round {number}", justify="right", min_width=11)
    table.add_column("locked in\nround 1", justify="right", min_width=11)
    for name in ("left\nfirst", "right\nfirst", "left^n +\nright^n"):
        table.add_column(name, justify="right")
    for row in rows:
        survival = [formatting.estimate(row.summary.survival[number], share=True) for number in told]
        first = row.first
        if first is None:
            table.add_row(row.letter or row.label, *survival, style="" if row.letter else "dim")
        else:
            shares = (
                formatting.number(first.left, 2),
                formatting.number(first.right, 2),
                formatting.number(first.independent),
            )
            table.add_row(row.letter, *survival, formatting.estimate(first.locked, share=True), *shares)
    return table


def fault_heads(rows: Sequence[Row]) -> list[str]:
    """The columns for the seats without a fault: their scores, then the share that starves at each distance."""
    farthest = max((len(row.beside_faults.starved) for row in rows if row.beside_faults), default=0)
    heads = [f"{name}\n(best {score.best})" for name, score in FAULT_SCORES.items()]
    return heads + [f"starve at\ndistance {place}" for place in range(1, farthest + 1)]


def fault_cells(row: Row, columns: int) -> list[str]:
    """One row of those columns."""
    found = row.beside_faults
    if found is None:
        return ["-"] * columns
    cells = [formatting.estimate(one) for one in (*found.scores.values(), *found.starved)]
    return cells + ["-"] * (columns - len(cells))


def _faults(section: Section) -> Table:
    table = _table(f"The seats without a fault (faults {section.rules.faults or 'of providers'})")
    table.add_column("model", overflow="fold")
    heads = fault_heads(section.rows)
    for head in heads:
        table.add_column(head, justify="right")
    for row in section.rows:
        table.add_row(Text(named(row)), *fault_cells(row, len(heads)))
    return table


def _contrasts(title: str, contrasts: Sequence[Contrast]) -> Group:
    table = _table(title)
    table.padding = (0, 0)  # fits 80 columns
    table.add_column("outcome", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name in ("difference", "Hedges' g", "p", "p (Holm)", "detectable"):
        table.add_column(name, justify="right", no_wrap=name.startswith("p"), min_width=len(name))
    told = [contrast for contrast in contrasts if not same(contrast)]
    for contrast in told:
        table.add_row(
            contrast.outcome,
            f"{contrast.second.letter} - {contrast.first.letter}",
            f"{formatting.number(contrast.difference)} {formatting.interval(contrast.interval)}",
            effect(contrast),
            formatting.p_value(contrast.p),
            formatting.p_value(contrast.p_holm),
            formatting.detectable(contrast.detectable),
        )
    notes = [alike_note(contrasts), pairing([c for c in told if c.primary])]
    return Group(*([table] if told else []), *(Text(note, "dim") for note in notes if note))


def named(row: Row) -> str:
    """A row's letter and name."""
    return f"{row.letter} {row.label}".strip()


def same(contrast: Contrast) -> bool:
    """Whether an outcome has one value in all episodes of both models, so that there is nothing to test."""
    return contrast.difference == 0.0 and contrast.p is None and not contrast.why


def alike_note(contrasts: Sequence[Contrast]) -> str:
    """A note on contrasts left out because the outcome never varies; empty if none."""
    found = []
    for name in dict.fromkeys(contrast.outcome for contrast in contrasts):
        pairs = [(c.first.letter, c.second.letter) for c in contrasts if c.outcome == name and same(c)]
        letters = sorted({letter for pair in pairs for letter in pair}, key=lambda letter: (len(letter), letter))
        if pairs and len(pairs) == len(letters) * (len(letters) - 1) // 2:
            found.append(f"{name} is the same in every episode of {', '.join(letters)}")
        elif pairs:
            found.append(f"{name} is the same in every episode of {', of '.join(f'{a} and {b}' for a, b in pairs)}")
    return "; ".join(found)


def test_name(contrast: Contrast) -> str:
    """The name of the test whose p-value is reported; empty if there is none."""
    if contrast.exact is not None:
        return contrast.exact.name
    return "" if contrast.means is None else contrast.means.name


def effect(contrast: Contrast) -> str:
    """Hedges' g with its interval."""
    test = contrast.means
    return (
        formatting.UNDEFINED if test is None else f"{formatting.number(test.g)} {formatting.interval(test.g_interval)}"
    )
