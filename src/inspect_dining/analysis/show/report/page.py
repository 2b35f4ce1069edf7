"""`report`: one self-contained HTML file with everything that a comparison shows."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from inspect_dining.analysis.comparison.compare import Comparison, Section
from inspect_dining.analysis.comparison.contrasts import Contrast
from inspect_dining.analysis.comparison.rows import Row
from inspect_dining.analysis.inputs.collection import Collection
from inspect_dining.analysis.inputs.episodes import Episode, Status
from inspect_dining.analysis.show import formatting
from inspect_dining.analysis.show.figures import plots
from inspect_dining.analysis.show.report import html
from inspect_dining.analysis.show.report.html import tag, text
from inspect_dining.analysis.show.report.mixed import mixed_tables
from inspect_dining.analysis.show.report.opening import opening
from inspect_dining.analysis.show.report.ring import SCRIPT, ring
from inspect_dining.analysis.show.report.ring import STYLE as RING_STYLE
from inspect_dining.analysis.show.tables import (
    alike_note,
    cost,
    effect,
    heading,
    legend,
    named,
    same,
)
from inspect_dining.audit.assessment import Audit, audit
from inspect_dining.audit.picture import draw
from inspect_dining.errors import BadInput
from inspect_dining.scorers.catalogue import SCORES, compute_scores
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.table.record import ending

PANELS = (
    ("efficiency", "no_deadlock", "reward", "proportional", "throughput"),
    ("meal_variance", "jain", "starved", "idle", "lost_turns"),
)
"""The scores, in two tables that fit a printed page."""
MOST_GAMES = 12
"""The number of games shown round by round, unless they are named."""
MOST_FRONTIERS = 3
"""The number of table sizes for which the frontier of the reward is drawn."""


def fragment(found: Comparison) -> str:
    """A comparison as an HTML fragment: results, differences, and the scores of every table size."""
    parts = [opening(found), *(piece for section in found.sections for piece in _scores(section)), _notes(found)]
    return html.numbered("".join(parts))


Paper = Literal["A4", "letter"]
"""The paper sizes of a report."""


def page(
    collection: Collection,
    found: Comparison,
    title: str,
    chosen: Sequence[str],
    shaping: Shaping | None,
    paper: Paper = "A4",
) -> str:
    """The whole report.

    Args:
        collection: The contents of the logs.
        found: Their comparison.
        title: Its title.
        chosen: Sample ids whose games are shown; if empty, a typical game per model and n.
        shaping: The shaping that every run's reward was scored by, or None for the runs' own.
        paper: The paper size.

    Returns:
        The page as HTML.

    Raises:
        BadInput: A chosen sample is in none of the logs.
    """
    games = _games(collection, found, chosen, shaping)
    parts = [
        text("h1", title),
        text("p", _provenance(collection), class_="small"),
        tag("nav", *(text("a", name, href=f"#{anchor}") for anchor, name in _CHAPTERS)),
        opening(found),
        _notes(found),
        text("h2", "Runs", id="runs"),
        _runs(collection, found),
        text("h2", "Scores", id="scores"),
        text("p", legend(found), class_="small"),
        html.picture(
            plots.efficiency_figure(found),
            "Efficiency and Jain's index of every model against the size of the table, with scripted players as lines.",
            "Efficiency (left) and fairness by Jain's index (right) of every model at each n, with 95% intervals. Grey "
            "lines: scripted players in the same games. 1 is best in both.",
        ),
        *(piece for section in found.sections for piece in _scores(section)),
        text("h2", "Deadlock", id="deadlock"),
        *_deadlock(found),
        text("h2", "Meals by seat", id="seats"),
        html.picture(
            plots.seats_figure(found),
            "Mean meals of each seat for every model, a panel for each table size.",
            "Mean meals of each seat in an episode with 95% t intervals. A ringed seat has a model of its own.",
        ),
        *mixed_tables(found),
        text("h2", "Contrasts", id="contrasts"),
        *_contrasts(found),
        text("h2", "The reward, audited", id="audit"),
        *_audits(found, shaping),
        text("h2", "Games", id="games"),
        *games,
    ]
    return html.page(title, *parts, script=SCRIPT, style=f"{RING_STYLE} @page {{ size: {paper}; }}")


_CHAPTERS = (
    ("glance", "At a glance"),
    ("runs", "Runs"),
    ("scores", "Scores"),
    ("deadlock", "Deadlock"),
    ("seats", "Meals by seat"),
    ("contrasts", "Contrasts"),
    ("audit", "Audit of the reward"),
    ("games", "Games"),
)


def _provenance(collection: Collection) -> str:
    started = sorted(run.created[:10] for run in collection.runs if run.created)
    when = "" if not started else f" played {started[0]}" + (f" to {started[-1]}" if started[-1] != started[0] else "")
    scored = sum(1 for episode in collection.episodes if episode.status is Status.SCORED)
    return (
        f"{scored:,} scored episodes of {len(collection.runs)} runs{when}; inspect_dining {version('inspect-dining')}. "
        "Every number is derived from the records in the logs."
    )


def _notes(found: Comparison) -> str:
    if not found.notes:
        return ""
    return tag("div", tag("ul", *(text("li", note) for note in found.notes)), class_="notes")


def _runs(collection: Collection, found: Comparison) -> str:
    letters = {row.player: row.letter for section in found.sections for row in section.rows}
    rows = [
        [
            letters.get(run.player, "-"),
            run.player.model + "".join(f" + {role} {model}" for role, model in run.player.roles),
            ", ".join(f"{name}={value}" for name, value in run.player.settings) or "-",
            run.log.rsplit("/", 1)[-1],
            run.created[:16].replace("T", " "),
        ]
        for run in collection.runs
    ]
    return html.table(
        ["", "model", "settings", "log", "started"],
        rows,
        "The runs: model, settings that were given, log file and start (UTC).",
        texts=(1, 2, 3, 4),
    )


def _scores(section: Section) -> list[str]:
    rows = []
    for row in section.rows:
        if row.counts is not None and row.spent is not None:
            counts = row.counts
            numbers = counts.planned, counts.scored, counts.cut, counts.errored, counts.distinct
            tokens = formatting.per_meal(row.spent.tokens_per_meal, formatting.UNDEFINED)
            rows.append([named(row), *map(str, numbers), tokens, cost(row), formatting.lost(row.summary.lost)])
    head = ["model", "planned", "scored", "cut", "errored", "distinct", "tokens a meal", "cost a meal", "lost turns"]
    parts = [
        text("h3", heading(section)),
        html.table(head, rows, f"What became of the planned episodes at n = {section.n}.", texts=(8,)),
    ]
    games = f"{section.ladder[0].summary.estimates['efficiency'].episodes} games each" if section.ladder else ""
    for names in PANELS:
        told = [[named(row) if row.letter else f"scripted {row.label}", *_cells(row, names)] for row in _all(section)]
        caption = f"Scores at n = {section.n}: means with 95% intervals." + (
            f" In grey the scripted players, {games}." if games else ""
        )
        head = ["model", *(f"{name}\n(best {SCORES[name].best})" for name in names)]
        parts.append(html.table(head, told, caption, quiet_from=len(section.rows)))
    return parts


def _all(section: Section) -> list[Row]:
    return [*section.rows, *section.ladder]


def _cells(row: Row, names: Sequence[str]) -> list[str]:
    return [formatting.estimate(row.summary.estimates.get(name), SCORES[name].share) for name in names]


def _deadlock(found: Comparison) -> list[str]:
    parts = [
        html.picture(
            plots.deadlock_figure(found),
            "Share of episodes that deadlocked for every model and table size, beside two null models.",
            "Left: deadlocked episodes with 95% Wilson intervals, and the scripted player that takes any of the six "
            "actions at random. Right: episodes in which every seat held one fork after round 1 (filled), and what "
            "seats that choose independently with the same frequencies would give, left^n + right^n (hollow).",
        ),
        html.picture(
            plots.survival_figure(found),
            "Share of episodes not yet deadlocked after each round, a panel for each table size.",
            "Share of episodes not yet deadlocked after each round, for every model at each n; dotted: the scripted "
            "random player.",
        ),
    ]
    for section, title in zip(found.sections, plots.titles(found.sections), strict=True):
        told = list(section.rows[0].summary.survival)
        head = [title, *(f"not deadlocked by round {number}" for number in told)]
        head += ["locked in round 1", "left first", "right first", "left^n + right^n"]
        rows = []
        for row in _all(section):
            survival = [formatting.estimate(row.summary.survival[number], share=True) for number in told]
            first = ["-"] * 4
            if row.first is not None:
                shares = formatting.number(row.first.left, 2), formatting.number(row.first.right, 2)
                first = [
                    formatting.estimate(row.first.locked, share=True),
                    *shares,
                    formatting.number(row.first.independent),
                ]
            rows.append([named(row) if row.letter else f"scripted {row.label}", *survival, *first])
        parts.append(html.table(head, rows, f"Survival and the first round, {title}.", quiet_from=len(section.rows)))
    return parts


def _contrasts(found: Comparison) -> list[str]:
    forest = plots.forest_figure(found)
    if forest is None:
        return [text("p", "There is nothing to contrast: no table holds two models that differ anywhere.")]
    parts = [
        html.picture(
            forest,
            f"Differences in {found.primary} between all pairs of models, with intervals, and Hedges' g.",
            f"{found.primary}, the primary outcome: second model minus first, with 95% intervals and Hedges' g. "
            "Grey strokes: the smallest difference that so many episodes find with 80% power. p-values by Holm over "
            "all pairs and sizes.",
        )
    ]
    for section, title in zip(found.sections, plots.titles(found.sections), strict=True):
        for primary, what in ((True, f"{found.primary}, the primary outcome"), (False, "The other outcomes")):
            mine = [contrast for contrast in section.contrasts if contrast.primary is primary]
            rows = [_contrast(contrast) for contrast in mine if not same(contrast)]
            note = alike_note(mine)
            caption = f"{title}: {what}." + (f" Left out: {note}." if note else "")
            head = ["outcome", "second minus first", "difference", "Hedges' g", "p", "p (Holm)", "detectable"]
            parts += [html.table(head, rows, caption, texts=(1,))] if rows else [text("p", caption, class_="small")]
    return parts


def _contrast(contrast: Contrast) -> list[str]:
    return [
        contrast.outcome,
        f"{contrast.second.letter} - {contrast.first.letter}",
        f"{formatting.number(contrast.difference)} {formatting.interval(contrast.interval)}",
        effect(contrast),
        formatting.p_value(contrast.p) + ("" if contrast.exact is None else f" ({contrast.exact.name})"),
        formatting.p_value(contrast.p_holm),
        formatting.detectable(contrast.detectable),
    ]


def _audits(found: Comparison, shaping: Shaping | None) -> list[str]:
    wanted: dict[tuple[str, int, int], Shaping] = {}
    for section in found.sections:
        own = shaping or next((e.run.shaping for row in section.rows for e in row.episodes), None)
        if own is not None:
            wanted[own.name, section.n, section.rules.rounds] = own
    if not wanted:
        return [text("p", "The reward of these runs cannot be computed here, so it was not audited.")]
    audits = [audit(own, n, rounds) for (_, n, rounds), own in wanted.items()]
    parts = [_frontiers(audits[:MOST_FRONTIERS])]
    for one in audits:
        fair = one.best_fair
        verdict = f"lacks {len(one.failed)} of {len(one.properties)}" if one.failed else "has all"
        caption = (
            f"{one.shaping} at n = {one.n}, T = {one.rounds} {verdict} of these properties. The best silent player "
            f"earns {one.silence.reward:.3f}; the best fair play, {fair.meals} meals, earns {fair.reward:.3f}; playing "
            f"pays up to a deadlock risk of {fair.break_even:.1%}."
        )
        rows = [[check.claim, "pass" if check.passed else "FAIL", check.detail] for check in one.properties]
        parts.append(html.table(["property", "", "finding"], rows, caption, texts=(1, 2)))
    lines = dict.fromkeys([*(one.method for one in audits), *(one.held_fixed for one in audits)])
    return [*parts, *(text("p", line, class_="small") for line in lines)]


def _frontiers(audits: Sequence[Audit]) -> str:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "frontier.svg"
        draw([(one, []) for one in audits], file)
        svg = file.read_text(encoding="utf-8")
    told = "What evenly split meals earn, without deadlock and in one, beside the best that a silent player earns."
    return html.picture(svg, told, told)


def _games(collection: Collection, found: Comparison, chosen: Sequence[str], shaping: Shaping | None) -> list[str]:
    shown: list[tuple[Row, Episode]] = []
    rows = [row for section in found.sections for row in section.rows if row.episodes]
    known = {episode.sample for episode in collection.episodes}
    for name in chosen:
        if name not in known:
            raise BadInput(
                f"--episode {name} is in none of the logs; they hold such as {', '.join(sorted(known)[:3])}."
            )
        shown += [(row, episode) for row in rows for episode in row.episodes if episode.sample == name]
    if not chosen:
        shown = [(row, _typical(row.episodes)) for row in rows]
    said = "The chosen games." if chosen else "Of every model and n the game of median efficiency."
    if not chosen and len(shown) > MOST_GAMES:
        said += f" {MOST_GAMES} of {len(shown)} are shown; choose others with --episode."
        shown = shown[:MOST_GAMES]
    key = (
        "A row for each seat, a column for each round. Blue: the seat holds its left fork after the round; orange: its "
        "right fork; green: it ate. Below each game its ring can be scrubbed round by round."
    )
    return [text("p", f"{said} {key}", class_="small"), *(_game(row, episode, shaping) for row, episode in shown)]


def _typical(episodes: Sequence[Episode]) -> Episode:
    ranked = sorted(episodes, key=lambda episode: (episode.terms.efficiency, episode.sample, episode.epoch))
    return ranked[(len(ranked) - 1) // 2]


def _game(row: Row, episode: Episode, shaping: Shaping | None) -> str:
    if episode.record is None:
        return ""
    title = f"{named(row)}: {episode.sample}, epoch {episode.epoch}"
    found = compute_scores(episode.terms, shaping or episode.run.shaping)
    told = ", ".join(f"{name} {formatting.number(value)}" for name, value in found.items())
    name = f"{episode.sample}, epoch {episode.epoch}"
    still = html.picture(
        episode.record.to_svg(title),
        f"{title}. {ending(episode.record)}",
        f"{title}. {ending(episode.record)} {told}.",
    )
    return still + ring(episode.record, name)
