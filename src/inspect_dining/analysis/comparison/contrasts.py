"""Contrasts between two models at one table size, paired by game if they played the same games.

Each game counts once, with the mean of its epochs. If two models share most of their games, differences are taken
game by game: the effect of a game's ties on both then cancels. Otherwise their games are independent.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev

from inspect_dining.analysis.comparison.rows import Row
from inspect_dining.scorers.catalogue import SCORES
from inspect_dining.statistics import (
    APART,
    FEWEST,
    Exact,
    Interval,
    Means,
    apart,
    by_game,
    detectable_difference,
    detectable_mcnemar,
    detectable_pairs,
    detectable_shares,
    exact_test,
    mcnemar,
    newcombe,
    paired,
    paired_newcombe,
    welch,
)

LOPSIDED = 1.5
"""Welch's test is not used if one group has more than this many times the games of the other..."""
ENOUGH = 100
"""...and the other has fewer than this: with skewed scores, its error rate then rises to three times the nominal."""

Games = Mapping[Hashable, float]


@dataclass(frozen=True, slots=True)
class Contrast:
    """One outcome of two models at one table size, the second minus the first.

    Attributes:
        first: The first model.
        second: The second.
        outcome: The score.
        primary: Whether it is the primary outcome.
        pairs: The number of games by which the two are paired; 0 if they played different games.
        difference: Mean of the second minus mean of the first, over the pairs if paired; None if one has no episode.
        interval: Its interval: Newcombe's for shares, else that of the t-test; None if none is valid.
        means: The t-test (Welch's or paired) with Hedges' g, or None if it is undefined or not valid.
        exact: The exact test (Boschloo's, Fisher's, McNemar's), for shares of games that were played once.
        p: The p-value reported: of the exact test for shares, else of the t-test.
        p_holm: The same, adjusted by Holm within its family.
        detectable: The nearest differences, below and above, that these numbers of games detect with 80% power.
        unpaired_p: The p-value of the unpaired test, if the two are paired.
        why: Why there is no test, in a few words; empty if there is one.
    """

    first: Row
    second: Row
    outcome: str
    primary: bool
    pairs: int
    difference: float | None
    interval: Interval | None
    means: Means | None
    exact: Exact | None
    p: float | None
    p_holm: float | None
    detectable: tuple[float | None, float | None]
    unpaired_p: float | None = None
    why: str = ""


def shared_games(first: Row, second: Row) -> list[Hashable]:
    """The games that both played, if these are at least half of each one's games; else none."""
    one, other = dict.fromkeys(first.summary.games), dict.fromkeys(second.summary.games)
    shared = [game for game in one if game in other]
    return shared if shared and 2 * len(shared) >= max(len(one), len(other)) else []


def compare_rows(first: Row, second: Row, outcome: str, primary: bool) -> Contrast:
    """Contrasts one outcome of two models.

    Args:
        first: The first model.
        second: The second.
        outcome: The score; both have it.
        primary: Whether it is the primary outcome.
    """
    a, b = (by_game(row.summary.values[outcome], row.summary.games) for row in (first, second))
    shared = shared_games(first, second)
    once = all(len(games) == len(row.summary.games) for games, row in ((a, first), (b, second)))
    if shared:
        a, b = {game: a[game] for game in shared}, {game: b[game] for game in shared}
    one, other = list(a.values()), list(b.values())
    difference = sum(other) / len(other) - sum(one) / len(one) if one and other else None
    means, why = compare_means(one, other, paired_games=bool(shared))
    if SCORES[outcome].share and once:
        exact, interval, detectable, unpaired = _shares(one, other, bool(shared))
        p, why = None if exact is None else exact.p, ""
    else:
        exact, interval, detectable, unpaired, p = None, None, (None, None), None, None
        if shared and means is not None and (apart_test := welch(one, other)) is not None:
            unpaired = apart_test.p
        if means is not None:
            p, interval = means.p, means.interval
            reach = detectable_pairs(means.deviation, len(one)) if shared else _reach(one, other)
            detectable = (None if reach is None else -reach, reach)
    return Contrast(
        first=first,
        second=second,
        outcome=outcome,
        primary=primary,
        pairs=len(shared),
        difference=difference,
        interval=interval,
        means=means,
        exact=exact,
        p=p,
        p_holm=None,
        detectable=detectable,
        unpaired_p=unpaired,
        why=why,
    )


def compare_means(first: Sequence[float], second: Sequence[float], *, paired_games: bool) -> tuple[Means | None, str]:
    """The t-test of two groups of games, or the reason why it is not valid.

    Args:
        first: A number for each game of the first group.
        second: The same for the second group; if paired, of the same games in the same order.
        paired_games: Whether the games are the same.
    """
    test = paired(first, second) if paired_games else welch(first, second)
    why = "" if test is None else _refusal(first, second, paired_games)
    return (None if why else test), why


def _refusal(first: Sequence[float], second: Sequence[float], same: bool) -> str:
    """Why a t-test is not valid on these games; empty if it is."""
    fewer, more = sorted((len(first), len(second)))
    if fewer < FEWEST:
        return f"{fewer} games, and it takes {FEWEST}"
    if same:
        differ = apart([b - a for a, b in zip(first, second, strict=True)])
    else:
        differ = apart([*first, *second])
        if more > LOPSIDED * fewer and fewer < ENOUGH:
            return f"{fewer} against {more} games"
    return "" if differ >= APART else "hardly two games differ"


def _shares(
    first: Sequence[float], second: Sequence[float], same: bool
) -> tuple[Exact | None, Interval | None, tuple[float | None, float | None], float | None]:
    """The exact test of two shares, its interval, the detectable differences, and for pairs the unpaired test."""
    hits1, total1, hits2, total2 = round(sum(first)), len(first), round(sum(second)), len(second)
    alone = exact_test(hits1, total1, hits2, total2)
    if not same:
        share = hits1 / total1 if total1 else 0.0
        up, down = detectable_shares(share, total1, total2)
        ends = None if down is None else down - share, None if up is None else up - share
        return alone, newcombe(hits1, total1, hits2, total2), ends, None
    both = sum(1 for a, b in zip(first, second, strict=True) if a and b)
    only = hits1 - both, hits2 - both
    interval = paired_newcombe(both, *only, total1 - both - sum(only))
    reach = detectable_mcnemar(sum(only) / total1, total1)
    return mcnemar(*only), interval, (None if reach is None else -reach, reach), None if alone is None else alone.p


def _reach(first: Sequence[float], second: Sequence[float]) -> float | None:
    return detectable_difference(stdev(first), stdev(second), len(first), len(second))
