"""The figures of a comparison, for a report or a paper; readable in print and by colour-blind readers.

Every function draws one figure and returns SVG text, with all letters as outlines, so that it looks the same
everywhere. Models differ by colour, marker and dash, and keep them in every figure.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspect_dining.analysis.comparison.compare import Comparison, Section
from inspect_dining.analysis.comparison.contrasts import Contrast
from inspect_dining.analysis.comparison.rows import Row
from inspect_dining.analysis.show import formatting
from inspect_dining.analysis.show.figures.style import (
    COLOURS,
    GREY,
    draw_legend,
    error_bars,
    look_of,
    make_panels,
    place_of,
    style,
    svg,
)
from inspect_dining.analysis.show.tables import named, same
from inspect_dining.statistics import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RANDOM = "random"
"""The null model of the ladder."""
_NULL = "scripted random player"


def titles(sections: Sequence[Section]) -> list[str]:
    """Titles that distinguish the tables: n, and what else differs if an n occurs twice."""
    unlike = {
        name
        for one in sections
        for other in sections
        if one.n == other.n
        for name, value in one.setup
        if dict(other.setup).get(name) != value
    }
    found = []
    for section in sections:
        more = [f"{name} {value}" for name, value in section.setup if name in unlike]
        twice = sum(1 for other in sections if other.n == section.n) > 1
        found.append(", ".join([f"n = {section.n}", *(more if twice else [])]))
    return found


def short_titles(sections: Sequence[Section]) -> list[str]:
    """Short titles for an axis: n, with a number if several set-ups share it."""
    found, seen = [], Counter[int]()
    for section in sections:
        seen[section.n] += 1
        twice = sum(1 for other in sections if other.n == section.n) > 1
        found.append(f"n = {section.n}" + (f" ({seen[section.n]})" if twice else ""))
    return found


def _models(found: Comparison) -> dict[str, Row]:
    """Every model by letter, in order."""
    rows = {row.letter: row for section in found.sections for row in section.rows}
    return dict(sorted(rows.items(), key=lambda item: place_of(item[1])))


LADDER_LINES = ("wave", "odd_even", "hierarchy", "lehmann_rabin", "backoff", "random")
"""The scripted players that are drawn as lines."""


def efficiency_figure(found: Comparison) -> str:
    """Efficiency and Jain's index against n, with the scripted ladder as lines; models are side by side at each n."""
    with style():
        figure, panels = make_panels(2, 3.0)
        models = _models(found)
        last = len(found.sections) - 1
        for axes, outcome, title in zip(panels, ("efficiency", "jain"), ("Efficiency", "Jain's index"), strict=True):
            for player in LADDER_LINES:
                ends: list[float] = []
                for place, section in enumerate(found.sections):
                    for row in section.ladder:
                        mean = row.summary.estimates[outcome].mean
                        if row.label == player and mean is not None:
                            axes.hlines(mean, place - 0.42, place + 0.42, color=GREY, linewidth=0.8, linestyle=":")
                            ends = [mean] if place == last else ends
                if ends:
                    axes.annotate(player, (last + 0.45, ends[0]), fontsize=6.5, color=GREY, va="center")
            for number, (letter, model) in enumerate(models.items()):
                shift = 0.6 * ((number + 0.5) / len(models) - 0.5)
                rows = [
                    (place + shift, row.summary.estimates[outcome])
                    for place, section in enumerate(found.sections)
                    for row in section.rows
                    if row.letter == letter and row.summary.estimates.get(outcome) is not None
                ]
                means, reach = error_bars([estimate for _, estimate in rows])
                look = look_of(model)
                axes.errorbar(
                    [x for x, _ in rows], means, reach, label=named(model), capsize=2,
                    color=look.colour, marker=look.marker, linestyle=look.dash,
                )  # fmt: skip
            axes.set(title=title, ylim=(-0.04, 1.04))
            axes.set_xticks(range(last + 1), short_titles(found.sections), rotation=0 if last < 5 else 60)
            axes.set_xlim(-0.5, last + 0.5 + 0.28 * (last + 1))
            axes.grid(axis="x", visible=False)
        draw_legend(figure, panels[0])
        return svg(figure)


def deadlock_figure(found: Comparison) -> str:
    """Deadlock against n with the random player, and locking in round 1 against independent seats."""
    with style():
        figure, (left, right) = make_panels(2, 2.8)
        at = {id(section): float(place) for place, section in enumerate(found.sections)}
        models = _models(found)
        for number, (letter, model) in enumerate(models.items()):
            shift = 0.5 * ((number + 0.5) / len(models) - 0.5)
            rows = [(at[id(s)] + shift, row) for s in found.sections for row in s.rows if row.letter == letter]
            scored = [(x, row.summary.estimates["no_deadlock"], row.first) for x, row in rows if row.first is not None]
            places, look = [x for x, _, _ in scored], look_of(model)
            means, reach = error_bars([survived for _, survived, _ in scored], complement=True)
            left.errorbar(
                places, means, reach, label=named(model), capsize=2,
                color=look.colour, marker=look.marker, linestyle=look.dash,
            )  # fmt: skip
            means, reach = error_bars([first.locked for _, _, first in scored])
            right.errorbar(places, means, reach, capsize=2, color=look.colour, marker=look.marker, linestyle="none")
            right.plot(
                places, [first.independent for _, _, first in scored],
                color=look.colour, marker=look.marker, linestyle="none", markerfacecolor="white", markersize=7,
            )  # fmt: skip
        null = [(at[id(s)], row) for s in found.sections for row in s.ladder if row.label == RANDOM]
        means, _ = error_bars([row.summary.estimates["no_deadlock"] for _, row in null], complement=True)
        if null:
            left.plot([x for x, _ in null], means, label=_NULL, color=GREY, linestyle=":", marker="_", markersize=14)
        left.set(title="Deadlock", ylabel="share of episodes", ylim=(-0.04, 1.04))
        right.set(title="Locked in round 1 (filled), expected\nof independent seats (hollow)")
        for axes in (left, right):
            axes.set_xticks(range(len(found.sections)), short_titles(found.sections), rotation=0 if len(at) < 6 else 60)
            axes.set_xlim(-0.5, len(found.sections) - 0.5)
            axes.grid(axis="x", visible=False)
        draw_legend(figure, left)
        return svg(figure)


def survival_figure(found: Comparison) -> str:
    """The share of episodes not deadlocked after each round, one panel per n; the random player is dotted."""
    with style():
        figure, panels = make_panels(len(found.sections), 2.3)
        for axes, section, title in zip(panels, found.sections, short_titles(found.sections), strict=True):
            for row in section.rows:
                look, curve = look_of(row), row.summary.curve
                axes.step(range(len(curve)), curve, where="post", color=look.colour, linestyle=look.dash)
            for row in section.ladder:
                if row.label == RANDOM:
                    curve = row.summary.curve
                    axes.step(range(len(curve)), curve, where="post", color=GREY, linestyle=":")
            axes.set(title=title, xlabel="round", ylim=(-0.04, 1.04), xlim=(0, section.rules.rounds))
        panels[0].set_ylabel("not deadlocked")
        for model in _models(found).values():
            look = look_of(model)
            panels[0].plot([], [], label=named(model), color=look.colour, linestyle=look.dash)
        if any(section.ladder for section in found.sections):
            panels[0].plot([], [], label=_NULL, color=GREY, linestyle=":")
        draw_legend(figure, panels[0])
        return svg(figure)


def seats_figure(found: Comparison) -> str:
    """Mean meals of each seat with intervals, one panel per n; a seat with its own model is ringed."""
    with style():
        figure, panels = make_panels(len(found.sections), 2.3)
        for axes, section, title in zip(panels, found.sections, short_titles(found.sections), strict=True):
            for number, row in enumerate(section.rows):
                look, shift = look_of(row), 0.6 * ((number + 0.5) / len(section.rows) - 0.5)
                means, reach = error_bars(row.summary.seats)
                seats = [seat + shift for seat in range(len(means))]
                axes.errorbar(seats, means, reach, capsize=1.5, color=look.colour, marker=look.marker, linestyle="none")
                usual = "" if row.player is None else row.player.model
                own = [seat for seat in range(len(means)) if row.seated and row.seated[seat] != usual]
                axes.plot(
                    [seats[seat] for seat in own], [means[seat] for seat in own],
                    color=look.colour, marker="o", markersize=11, markerfacecolor="none", linestyle="none",
                )  # fmt: skip
            axes.set(title=title, xlabel="seat")
            axes.set_xticks(range(0, section.n, 1 if section.n <= 10 else 5))
            axes.set_ylim(bottom=0)
            axes.grid(axis="x", visible=False)
        panels[0].set_ylabel("meals per episode")
        for model in _models(found).values():
            look = look_of(model)
            panels[0].plot([], [], label=named(model), color=look.colour, marker=look.marker, linestyle="none")
        draw_legend(figure, panels[0])
        return svg(figure)


def forest_figure(found: Comparison) -> str | None:
    """Every contrast of the primary outcome: its difference, Hedges' g, and the detectable difference.

    Returns:
        The figure, or None if there is nothing to contrast.
    """
    from matplotlib.figure import Figure

    lines: list[Contrast | str] = []
    for section, title in zip(found.sections, titles(found.sections), strict=True):
        told = [contrast for contrast in section.contrasts if contrast.primary and not same(contrast)]
        lines += [title, *told] if told else []
    if not lines:
        return None
    with style():
        figure = Figure(figsize=(7.2, 0.24 * len(lines) + 1.1), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        heights = range(len(lines), 0, -1)
        for y, line in zip(heights, lines, strict=True):
            if isinstance(line, str):
                continue
            _whisker(left, y, line.difference, line.interval)
            ends = [end for end in line.detectable if end is not None]
            left.plot(ends, [y] * len(ends), marker="|", markersize=8, color=GREY, linestyle="none")
            test = line.means
            if test is None:
                right.annotate(
                    formatting.UNDEFINED, (0.5, y), xycoords=("axes fraction", "data"),
                    va="center", ha="center", fontsize=8, color=GREY,
                )  # fmt: skip
            else:
                _whisker(right, y, test.g, test.g_interval)
            right.annotate(
                f"p = {formatting.p_value(line.p_holm)}".replace("= <", "< "),
                (1.02, y),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=8,
            )
        names = [line if isinstance(line, str) else f"{line.second.letter} - {line.first.letter}" for line in lines]
        left.set_yticks(list(heights), names)
        for label, line in zip(left.get_yticklabels(), lines, strict=True):
            label.set_fontweight("bold" if isinstance(line, str) else "normal")
        left.set(title=f"{found.primary}: difference\n(grey: detectable)", ylim=(0.3, len(lines) + 0.7))
        right.set(title="Hedges' g    (p by Holm)")
        for axes in (left, right):
            axes.axvline(0, color="black", linewidth=0.8)
            axes.grid(axis="y", visible=False)
            axes.tick_params(axis="y", length=0)
        return svg(figure)


def _whisker(axes: "Axes", y: float, value: float | None, interval: Interval | None) -> None:
    if value is None:
        return
    if interval is not None:
        axes.plot([interval.low, interval.high], [y, y], color=COLOURS[0], linewidth=1.6, solid_capstyle="butt")
    axes.plot([value], [y], marker="s", color=COLOURS[0], markersize=4.5)
