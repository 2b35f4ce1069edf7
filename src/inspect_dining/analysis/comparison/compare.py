"""Comparing models on the same games: one table per n with the ladder, and contrasts between the models.

The unit is the game, however often its epochs repeat it. Within a table all runs share rules, prompt, hint, memory,
version and reward; other runs are refused, or kept apart on request. One outcome is primary. Its contrasts, over all
pairs and sizes, are one family under Holm; those of all other outcomes are another.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from inspect_dining.analysis.comparison.contrasts import Contrast, compare_rows
from inspect_dining.analysis.comparison.rows import Row, ladder_rows, model_row
from inspect_dining.analysis.inputs.collection import Collection
from inspect_dining.analysis.inputs.episodes import Episode, Player, Run, Setup
from inspect_dining.analysis.show import formatting
from inspect_dining.crossplay.matrix import Matrix, PlayedGame, matrix_of
from inspect_dining.errors import BadInput
from inspect_dining.scorers.catalogue import PRIMARY, SCORES
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.statistics import holm
from inspect_dining.table.rules import Rules

LADDER_EPISODES = 100
"""The number of games that each scripted player of the ladder plays."""
FEW = 10
"""A warning is given below this number of distinct records, or if at most half of them are distinct."""

Place = tuple[int, Setup, Player]
"""The key under which an episode is counted: a table size under one set-up, and a player."""


@dataclass(frozen=True, slots=True)
class Section:
    """One table size under one set-up.

    Attributes:
        n: The number of seats.
        rules: The rules.
        setup: The properties that all its runs share, as pairs of name and value.
        rows: The models.
        ladder: The scripted players under the same rules, the best first.
        contrasts: The contrasts between the models, the primary outcome first.
        matrix: Cross-play of the models, if any of them shared a table; else None.
    """

    n: int
    rules: Rules
    setup: Setup
    rows: Sequence[Row]
    ladder: Sequence[Row]
    contrasts: Sequence[Contrast]
    matrix: Matrix | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of models.

    Attributes:
        primary: The primary outcome.
        sections: The tables, by n.
        notes: Sentences on what was left out, unscored or too similar.
    """

    primary: str
    sections: Sequence[Section]
    notes: Sequence[str]


def compare(
    collection: Collection,
    *,
    primary: str = PRIMARY,
    separate: bool = False,
    shaping: Shaping | None = None,
    baseline: str | None = None,
    ladder_episodes: int = LADDER_EPISODES,
) -> Comparison:
    """Compares the models of some logs.

    Args:
        collection: The result of `collection.read`.
        primary: The primary outcome.
        separate: Whether runs with different set-ups are kept apart; else they are refused.
        shaping: A shaping for the `reward` of all runs; None for their own.
        baseline: A label, or a unique part of one, to which contrasts are restricted.
        ladder_episodes: Games per scripted player; 0 for no ladder.

    Raises:
        BadInput: The outcome or baseline is unknown, or runs have different set-ups.
    """
    if primary not in SCORES:
        raise BadInput(f"There is no outcome {primary!r}; accepted: {', '.join(SCORES)}.")
    groups = _groups(collection, shaping)
    if not separate:
        _refuse_unequal(groups)
    labels = labels_of(list(dict.fromkeys(player for _, _, player in groups)))
    letters = {label: formatting.letter(place) for place, label in enumerate(labels.values())}
    base = None if baseline is None else _chosen(baseline, sorted(labels.values()))
    sections: list[Section] = []
    notes = list(collection.notes)
    sizes: dict[tuple[str, str], list[int]] = {}
    places = list(dict.fromkeys((n, setup) for n, setup, _ in groups))
    for n, setup in sorted(places, key=lambda place: (place[0], places.index(place))):
        here = {player: group for (size, own, player), group in groups.items() if (size, own) == (n, setup)}
        rules = next(iter(here.values())).rules
        rows = [
            model_row(letters[labels[player]], labels[player], player, rules, group.episodes, group.missing, shaping)
            for player, group in here.items()
        ]
        _need(primary, rows, n)
        rewarded = shaping or next(iter(here.values())).run.shaping
        contrasts = _contrasts(rows, primary, base, reward_is_proportional=_name(rewarded) == "proportional")
        ladder = ladder_rows(rules, rewarded, ladder_episodes)
        sections.append(Section(n, rules, setup, rows, ladder, contrasts, _matrix(rows)))
        for warning in _untested(contrasts):
            sizes.setdefault((warning, ""), []).append(n)
        for row in rows:
            for warning in _warnings(row):
                sizes.setdefault((row.label, warning), []).append(n)
    for (label, warning), at in sizes.items():
        notes.append(f"{label} at n = {', '.join(map(str, at))}" + (f": {warning}" if warning else "."))
    return Comparison(primary, _adjusted(sections), notes)


def _matrix(rows: Sequence[Row]) -> Matrix | None:
    """Cross-play of the models of a section, or None if no two of them shared a table."""
    played = [PlayedGame(e.sample, e.seating, e.terms) for row in rows for e in row.episodes if e.seating]
    if all(len(set(one.seating)) < 2 for one in played):
        return None
    return matrix_of(played, sorted({name for one in played for name in one.seating}))


@dataclass
class _Group:
    """The episodes of one player at one size under one set-up, with the number of planned ones that left no trace."""

    run: Run
    rules: Rules
    episodes: list[Episode]
    missing: int = 0


def _groups(collection: Collection, shaping: Shaping | None) -> dict[Place, _Group]:
    groups: dict[Place, _Group] = {}
    homes: dict[tuple[int, int], list[Place]] = {}

    def group(run: Run, rules: Rules) -> _Group:
        setup = run.equal_games(rules)
        if shaping is not None:
            setup = (*(pair for pair in setup if pair[0] != "reward"), ("reward", shaping.name))
        place = rules.n, setup, run.player
        here = homes.setdefault((id(run), rules.n), [])
        if place not in here:
            here.append(place)
        return groups.setdefault(place, _Group(run, rules, []))

    for episode in collection.episodes:
        group(episode.run, episode.rules).episodes.append(episode)
    seen = Counter((id(episode.run), episode.n) for episode in collection.episodes)
    for run in collection.runs:
        for n, planned in run.sizes.items():
            missing = planned - seen[id(run), n]
            if missing > 0 and (id(run), n) in homes:
                groups[homes[id(run), n][0]].missing += missing
            elif missing > 0 and n in run.rules:
                group(run, run.rules[n]).missing += missing
    return groups


def _refuse_unequal(groups: Mapping[Place, _Group]) -> None:
    for n in sorted({size for size, _, _ in groups}):
        setups = {setup: group for (size, setup, _), group in groups.items() if size == n}
        if len(setups) < 2:
            continue
        (one, here), (other, there) = list(setups.items())[:2]
        first, second = dict(one), dict(other)
        unlike = [name for name in {**first, **second} if first.get(name) != second.get(name)]
        told = "; ".join(
            f"{name} is {first.get(name, 'not set')} in {_file(here.run)} and {second.get(name, 'not set')} in "
            f"{_file(there.run)}"
            for name in unlike
        )
        raise BadInput(
            f"At n = {n} these runs are not the same games: {told}. Compare runs of one set-up, or keep them apart "
            "with --separate" + (" (or score all by one --shaping)." if "reward" in unlike else ".")
        )


def _need(primary: str, rows: Sequence[Row], n: int) -> None:
    without = [row.label for row in rows if row.episodes and primary not in row.summary.values]
    if without:
        raise BadInput(
            f"The primary outcome {primary} cannot be computed for {', '.join(without)} at n = {n}: name a --shaping "
            "to score every run the same way, or another --primary."
        )


def _file(run: Run) -> str:
    return run.log.rsplit("/", 1)[-1]


def _name(shaping: Shaping | None) -> str:
    return "" if shaping is None else shaping.name


def labels_of(players: Sequence[Player]) -> dict[Player, str]:
    """The shortest names that distinguish the players: the model, models of single seats, and settings that differ."""
    parts = {
        player: (player.model + "".join(f" + {role} {name}" for role, name in player.roles), dict(player.settings))
        for player in players
    }
    labels = {}
    for player, (name, settings) in parts.items():
        others = [theirs for other, (called, theirs) in parts.items() if called == name and other != player]
        unlike = {key for theirs in others for key in {**theirs, **settings} if theirs.get(key) != settings.get(key)}
        told = ", ".join(f"{key}={settings.get(key, 'default')}" for key in sorted(unlike))
        labels[player] = f"{name} ({told})" if told else name
    return labels


def _chosen(baseline: str, labels: Sequence[str]) -> str:
    hits = [label for label in labels if label == baseline] or [label for label in labels if baseline in label]
    if len(hits) != 1:
        what = "names no model" if not hits else f"could be {' or '.join(hits)}"
        raise BadInput(f"--baseline {baseline} {what}; the models are: {', '.join(labels)}.")
    return hits[0]


def _contrasts(rows: Sequence[Row], primary: str, base: str | None, reward_is_proportional: bool) -> list[Contrast]:
    outcomes = [primary, *(name for name in SCORES if name != primary)]
    twins = [("efficiency", "throughput")] + [("reward", "proportional")] * reward_is_proportional
    for one, other in twins:
        outcomes.remove(one if other == primary else other)
    pairs = list(combinations(rows, 2))
    if base is not None:
        pairs = [(a, b) if a.label == base else (b, a) for a, b in pairs if base in (a.label, b.label)]
    return [
        compare_rows(first, second, name, name == primary)
        for name in outcomes
        for first, second in pairs
        if name in first.summary.values and name in second.summary.values
    ]


def _adjusted(sections: Sequence[Section]) -> list[Section]:
    """Applies Holm's adjustment to the sections: the primary outcome's contrasts are one family, all others another."""
    everything = [contrast for section in sections for contrast in section.contrasts]
    adjusted: dict[int, float | None] = {}
    for family in (True, False):
        members = [contrast for contrast in everything if contrast.primary is family]
        for contrast, p in zip(members, holm([member.p for member in members]), strict=True):
            adjusted[id(contrast)] = p
    return [
        replace(section, contrasts=[replace(c, p_holm=adjusted[id(c)]) for c in section.contrasts])
        for section in sections
    ]


def _untested(contrasts: Sequence[Contrast]) -> list[str]:
    """Notes on contrasts without a valid test, with the reason."""
    found: dict[str, dict[str, None]] = {}
    for one in contrasts:
        if one.why:
            found.setdefault(one.why, {})[f"{one.outcome} {one.second.letter} - {one.first.letter}"] = None
    return [f"No t-test would hold ({why}): {', '.join(which)}" for why, which in found.items()]


def _warnings(row: Row) -> list[str]:
    counts = row.counts
    if counts is None:
        return []
    found = []
    reasons = sorted(row.unscored.items(), key=lambda item: -item[1])
    unscored = [f"{count} {reason}" for reason, count in reasons[:3]]
    unscored += [f"{sum(count for _, count in reasons[3:])} for other reasons"] if len(reasons) > 3 else []
    unscored += [f"{counts.not_played} without a trace"] if counts.not_played else []
    if unscored:
        found.append(
            f"of {counts.planned} planned episodes {counts.scored} are scored "
            f"({'; '.join(unscored)}). If what stopped the others depends on how they were played, scores are biased."
        )
    games = len(set(row.summary.games))
    if games < counts.scored:
        found.append(
            f"{counts.scored} scored episodes are epochs of {games} games: intervals and tests count each game once, "
            "with the mean of its epochs."
        )
    without: dict[str, list[str]] = {}
    for name, one in row.summary.estimates.items():
        if one.why and one.why != "no two games differ":
            without.setdefault(one.why, []).append(name)
    found += [f"no interval of {', '.join(names)} would hold ({why})." for why, names in without.items()]
    if 0 < counts.distinct < FEW or 0 < 2 * counts.distinct <= counts.scored:
        alike = counts.distinct < counts.scored
        found.append(
            f"only {counts.distinct} of {counts.scored} records "
            f"{'is' if counts.distinct == 1 else 'are'} distinct. "
            + (
                "Repeated games are no further evidence: intervals and tests overstate what is known."
                if alike
                else "So few episodes can show only very large differences."
            )
        )
    return found
