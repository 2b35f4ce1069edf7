"""Simulates what the intervals and tests of `compare` cover on the game's own scores.

    python docs/coverage.py            # plays, simulates, writes docs/data/coverage.csv (minutes)
    python docs/coverage.py --table    # only puts the table of docs/data/coverage.csv into docs/comparing.md

The populations are the ten scripted players of the first release with 2% and 10% random turns (each of the six actions
or none), at n = 5, T = 30. Of each so many games are played, five epochs each; the population is these games. Runs are
drawn from them with replacement. A share of the runs gets no interval or no test; coverage and error rates are those of
the others.
"""

import csv
import random
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from inspect_dining.analysis.comparison.contrasts import compare_means
from inspect_dining.scorers.catalogue import SCORES, compute_scores, estimate_score
from inspect_dining.scorers.shaping import shaping
from inspect_dining.scorers.terms import terms
from inspect_dining.table.moves import Action
from inspect_dining.table.players.playing import Player, play
from inspect_dining.table.players.scripted import scripted
from inspect_dining.table.rules import Coin, Rules, episode_seed, sample_id
from inspect_dining.table.view import View

HERE = Path(__file__).parent
DATA = HERE / "data" / "coverage.csv"
PLAYERS = (
    "silent", "think", "random", "left_first", "hierarchy", "odd_even", "backoff", "lehmann_rabin", "wave", "hog"
)  # fmt: skip
NOISE = (0.02, 0.1)
GAMES, EPOCHS = 250, 5
SIZES = (5, 10, 30, 100)
OUTCOMES = [name for name in SCORES if name != "throughput"]
COLUMNS = ("kind", "player", "noise", "epochs", "games", "outcome", "given", "rate", "runs")
RUNS, MANY = 150, 1000
"""Runs of a cell, and of one whose rate looked wrong after these: at 150 runs a true .95 is below .93 once in nine."""
START, END = "<!-- coverage: made by docs/coverage.py -->", "<!-- end of coverage -->"

Values = NDArray[np.float64]


def noisy(name: str, noise: float, seed: int, epoch: int) -> Player:
    """A scripted player that takes a random turn now and then."""
    chance, player, actions = random.Random(f"{name}/{noise}/{seed}/{epoch}"), scripted(name), list(Action)

    def decide(view: View) -> Action | None:
        if chance.random() < noise:
            return chance.choice(actions) if chance.random() < 6 / 7 else None
        action: Action | None = player.decide(view, Coin(seed, epoch, view.round, view.seat))
        return action

    return decide


def population(name: str, noise: float, games: int, epochs: int) -> Values:
    """Scores of a player's games: games x epochs x outcomes."""
    rules, paper = Rules(5, 30), shaping("paper")
    values = np.empty((games, epochs, len(OUTCOMES)))
    for game in range(games):
        seed = episode_seed("test", sample_id(5, 0, game))
        for epoch in range(epochs):
            made = compute_scores(terms(play(rules, noisy(name, noise, seed, epoch), seed, epoch + 1)), paper)
            values[game, epoch] = [made[outcome] for outcome in OUTCOMES]
    return values


def simulate(
    values: Values, epochs: int, size: int, runs: int, seed: int, wanted: Collection[tuple[str, str]] | None = None
) -> Iterator[tuple[str, str, float, float]]:
    """Kind, outcome, share of runs given a number, and how often that is right (intervals) or wrong (tests)."""
    rng, truth = np.random.default_rng(seed), values[:, :epochs].mean((0, 1))
    names = np.repeat(np.arange(size), epochs)
    every = [(kind, outcome) for kind in ("interval", "test", "paired") for outcome in OUTCOMES]
    hits: dict[tuple[str, str], list[bool]] = {cell: [] for cell in every if wanted is None or cell in wanted}
    for _ in range(runs):
        drawn, others = rng.integers(len(values), size=size), rng.integers(len(values), size=size)
        run = values[drawn, :epochs].reshape(-1, len(OUTCOMES))
        ate = [bool(efficiency > 0) for efficiency in run[:, OUTCOMES.index("efficiency")]]
        # The same games twice: a game's epochs in two parts that each chance could have been the other player's.
        parts = rng.permuted(np.broadcast_to(np.arange(values.shape[1]), (size, values.shape[1])), axis=1)
        half = max(1, min(epochs, values.shape[1] // 2))
        mine, theirs = parts[:, :half, None], parts[:, -half:, None]
        first, second = (np.take_along_axis(values[drawn], part, 1).mean(1) for part in (mine, theirs))
        apart = values[others, :epochs].mean(1), values[drawn, :epochs].mean(1)
        for place, outcome in enumerate(OUTCOMES):
            if ("interval", outcome) in hits:
                made = estimate_score(SCORES[outcome], run[:, place].tolist(), ate, names.tolist()).interval
                if made is not None:
                    hits["interval", outcome].append(made.low <= truth[place] <= made.high)
            for kind, (one, other) in (("test", apart), ("paired", (first, second))):
                if (kind, outcome) not in hits:
                    continue
                p = p_value(outcome, one[:, place], other[:, place], paired=kind == "paired")
                if p is not None:
                    hits[kind, outcome].append(p <= 0.05)
    for (kind, outcome), found in hits.items():
        yield kind, outcome, len(found) / max(1, runs), fmean(found) if found else 0.0


def p_value(outcome: str, first: Values, second: Values, paired: bool) -> float | None:
    """The p-value of the t-test that `compare` makes of two players, if it makes one."""
    if SCORES[outcome].share and set(np.unique([first, second])) <= {0.0, 1.0}:
        return None  # an exact test: its error rate is bounded by construction
    test, _ = compare_means(first.tolist(), second.tolist(), paired_games=paired)
    return None if test is None else test.p


def doubtful(kind: str, size: int, given: float, rate: float) -> bool:
    """Whether a rate is on the wrong side of what is promised, where a number is given in a fifth of the runs."""
    return size >= 30 and given >= 0.2 and (rate < 0.93 if kind == "interval" else rate > 0.06)


def rows() -> Iterator[tuple[object, ...]]:
    """Everything that the CSV holds; what looked wrong is simulated once more, with other and many more runs."""
    for name in PLAYERS:
        for noise in NOISE:
            values = population(name, noise, GAMES, EPOCHS)
            for epochs in (1, EPOCHS):
                for size in SIZES:
                    runs = RUNS if size >= 30 else RUNS // 5
                    found = list(simulate(values, epochs, size, runs, seed=size * epochs))
                    again = {
                        (kind, outcome)
                        for kind, outcome, given, rate in found
                        if doubtful(kind, size, round(given, 3), round(rate, 3))
                    }
                    closer = {
                        (kind, outcome): (given, rate)
                        for kind, outcome, given, rate in simulate(
                            values, epochs, size, MANY if again else 0, size * epochs + 12345, again
                        )
                    }
                    for kind, outcome, given, rate in found:
                        many = closer.get((kind, outcome))
                        share, right = many or (given, rate)
                        cell = kind, name, noise, epochs, size, outcome
                        yield *cell, round(share, 3), round(right, 3), MANY if many else runs


def table(lines: Sequence[dict[str, str]]) -> str:
    """The page's table: over all populations, how often a number is given and how far its rate is from the nominal."""
    head = (
        "| | epochs | games | given | median rate | 10% to 90% of populations |\n| --- | --- | --- | --- | --- | --- |"
    )
    names = {
        "interval": "coverage of intervals",
        "test": "error rate, different games",
        "paired": "error rate, the same games",
    }
    made = [head]
    for kind, label in names.items():
        for epochs in ("1", str(EPOCHS)):
            for size in map(str, SIZES):
                some = [x for x in lines if (x["kind"], x["epochs"], x["games"]) == (kind, epochs, size)]
                means = [x for x in some if x["outcome"] != "no_deadlock"]
                given = fmean(float(x["given"]) for x in means)
                rates = [float(x["rate"]) for x in means if float(x["given"]) >= 0.2]
                if not rates:
                    made.append(f"| {label} | {epochs} | {size} | {given:.0%} | - | - |")
                    continue
                low, middle, high = np.quantile(rates, (0.1, 0.5, 0.9))
                made.append(f"| {label} | {epochs} | {size} | {given:.0%} | {middle:.3f} | {low:.3f} to {high:.3f} |")
    return "\n".join(made)


def paged(page: str, lines: Sequence[dict[str, str]]) -> str:
    """The page with the table of now."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table(lines)}\n{END}{after}"


def stored() -> list[dict[str, str]]:
    """The rows of the CSV."""
    with DATA.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    if "--table" not in sys.argv:
        DATA.parent.mkdir(exist_ok=True)
        with DATA.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(rows())
    page = HERE / "comparing.md"
    page.write_text(paged(page.read_text(encoding="utf-8"), stored()), encoding="utf-8")
