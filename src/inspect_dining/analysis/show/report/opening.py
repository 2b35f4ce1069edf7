"""The first page of a report: the game, the players, and which differs from which by how much."""

from collections.abc import Iterator

from inspect_dining.analysis.comparison.compare import Comparison, Section
from inspect_dining.analysis.comparison.contrasts import Contrast
from inspect_dining.analysis.comparison.rows import Row
from inspect_dining.analysis.show import formatting
from inspect_dining.analysis.show.figures import plots
from inspect_dining.analysis.show.report.html import tag, text
from inspect_dining.analysis.show.tables import named
from inspect_dining.scorers.catalogue import SCORES
from inspect_dining.statistics import ALPHA

GAME = (
    "In a game, n philosophers sit around a table with n forks. To eat, a philosopher needs both forks beside its "
    "seat, and it sees only these two. When every seat holds one fork and waits for the other, the table is "
    "deadlocked. Efficiency is the meals eaten as a share of the most that any play could eat: 1 is best."
)
"""The game in a few lines."""
MOST_SENTENCES = 12
"""The number of differences on the first page; all are in the contrasts."""


def opening(found: Comparison) -> str:
    """The first page, as HTML."""
    sizes = plots.short_titles(found.sections)
    places = [
        tag("li", *_place(section, row, size))
        for section, size in zip(found.sections, sizes, strict=True)
        for row in section.rows
    ]
    told = list(_differences(found))
    more = f" {len(told) - MOST_SENTENCES} more are among the contrasts." if len(told) > MOST_SENTENCES else ""
    parts = [text("p", GAME), text("h2", "At a glance", id="glance"), tag("ul", *places)]
    if told:
        parts += [text("h3", "Differences"), tag("ul", *(text("li", one) for one in told[:MOST_SENTENCES]))]
        parts.append(text("p", f"Intervals are 95%; p by Holm over all pairs and sizes.{more}", class_="small"))
    return tag("section", *parts, class_="opening")


def _place(section: Section, row: Row, size: str) -> Iterator[str]:
    """A model's results at one size, and the scripted players next to it."""
    yield text("b", f"{named(row)}, {size}: ")
    efficiency = row.summary.estimates.get("efficiency")
    survived = row.summary.estimates.get("no_deadlock")
    if efficiency is None or efficiency.mean is None or survived is None or survived.mean is None:
        yield text("span", "no scored game.")
        return
    words = f"efficiency {formatting.estimate(efficiency, SCORES['efficiency'].share)}"
    words += f", deadlock in {1 - survived.mean:.0%} of {efficiency.episodes} game{'s' * (efficiency.episodes != 1)}"
    means = {one.label: one.summary.estimates["efficiency"].mean for one in section.ladder}
    known = sorted((mean, label) for label, mean in means.items() if mean is not None)
    above = [(mean, label) for mean, label in known if mean > efficiency.mean]
    below = [(mean, label) for mean, label in known if mean <= efficiency.mean]
    if below and above:
        words += (
            f"; between the scripted players {below[-1][1]} ({below[-1][0]:.2f}) and {above[0][1]} ({above[0][0]:.2f})"
        )
    elif above:
        words += f"; below every scripted player, the nearest {above[0][1]} ({above[0][0]:.2f})"
    elif below:
        words += f"; no scripted player does better, the nearest {below[-1][1]} ({below[-1][0]:.2f})"
    yield text("span", f"{words}.")


def _differences(found: Comparison) -> Iterator[str]:
    """The contrasts of efficiency and deadlock in words, the clear ones first."""
    named_first = sorted(
        (
            (not _sure(contrast), place, section, contrast)
            for place, (section, contrast) in enumerate(
                (section, contrast)
                for section in found.sections
                for contrast in section.contrasts
                if contrast.primary or contrast.outcome in ("efficiency", "no_deadlock")
            )
        ),
        key=lambda item: item[:2],
    )
    for _, _, section, contrast in named_first:
        if contrast.difference is None or contrast.p is None:
            continue
        first, second = contrast.first, contrast.second
        how = f"{formatting.interval(contrast.interval)}, p = {formatting.p_value(contrast.p_holm)}".replace(
            "= <", "< "
        )
        if not _sure(contrast):
            # The interval is that of one contrast alone, so it may exclude 0 where the adjusted p-value is too large.
            alone = contrast.p < ALPHA
            verdict = "differ only before Holm's adjustment for several contrasts" if alone else "cannot be told apart"
            yield (
                f"n = {section.n}, {contrast.outcome}: {first.letter} and {second.letter} {verdict} "
                f"(difference {formatting.number(contrast.difference)} {how})."
            )
            continue
        higher, lower = (second, first) if contrast.difference > 0 else (first, second)
        yield (
            f"n = {section.n}, {contrast.outcome}: {named(higher)} is higher than {named(lower)} by "
            f"{formatting.number(abs(contrast.difference))} (difference {second.letter} - {first.letter} {how})."
        )


def _sure(contrast: Contrast) -> bool:
    return contrast.p_holm is not None and contrast.p_holm < ALPHA
