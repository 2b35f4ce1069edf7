"""Training for strangers on the tiny stand-in: with and without `mirror`, with and without `partners`.

    nice -n 19 python benchmarks/strangers.py --seeds 61-65 --out runs/strangers

For every seed a tiny model is built and taught once, and trained once in each of four arms: `plain`, `mirror`,
`partners`, `both`. The recipe is `quick` in small: four groups of games of five seats, 100 steps, the last checkpoint.
Then the checkpoints of an arm play with each other (seeds never met in training), with scripted players, and with their
own reflections. A run that is done is not run again and one that was killed goes on; at the end the matrices are
played, OUT/cells.csv is written and the paired differences to `plain` are shown.

The tables: 60 games a cell, n = 5, T = 30, sampled, the same games in all cells and arms.
"""

import argparse
import csv
import io
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import torch

from inspect_dining.crossplay import Matrix, cross_play
from inspect_dining.files import write
from inspect_dining.providers.guests import host_of
from inspect_dining.scorers.terms import terms
from inspect_dining.statistics import mean_interval
from inspect_dining.table.rules import Coin, Rules, episode_seed, sample_id
from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.play.loading import dinner, load
from inspect_dining.training.play.rollouts import Play
from inspect_dining.training.play.strangers import split_seats
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.recipe import load as load_recipe
from inspect_dining.training.run import Run
from inspect_dining.training.tiny.base import build_base

PARTNERS = "hierarchy,odd_even,past"
ARMS: dict[str, dict[str, object]] = {
    "plain": {},
    "mirror": {"mirror": True},
    "partners": {"partners": PARTNERS},
    "both": {"mirror": True, "partners": PARTNERS},
}
SMALL: dict[str, object] = {
    "groups": 4,
    "pairs": 320,
    "stages": "5x12,5x20",
    "keep": "last",
    "select_sizes": "5",
    "select_episodes": 4,
}
"""What is changed of `quick`, so that twenty runs take half an hour of one core."""
SCRIPTED = ("hierarchy", "odd_even", "even_odd", "wave", "lehmann_rabin")
"""The first two were partners in training; the others were never met."""
RULES, GAMES = Rules(n=5), 60
REFLECTION = "its reflection"
COLUMNS = ("steps", "arm", "first", "second", "games", "efficiency", "deadlock", "meals_first", "meals_second")


@dataclass(frozen=True, slots=True)
class Cell:
    """One table of an arm: a seed of it with another, with a scripted player or with its own reflection.

    Attributes:
        steps: Steps of the runs.
        arm: The arm.
        first: A seed.
        second: A seed, a scripted player, or `REFLECTION`.
        games: How many games it is of.
        efficiency: Their mean efficiency.
        deadlock: The share of them that deadlocked.
        meals_first: Mean meals of a seat of the first.
        meals_second: Mean meals of a seat of the second.
    """

    steps: int
    arm: str
    first: str
    second: str
    games: int
    efficiency: float
    deadlock: float
    meals_first: float
    meals_second: float


class Watcher:
    """Says when a run ends."""

    def line(self, text: str) -> None:
        """Something happened; only the last checkpoint is of interest."""

    def step(self, row: dict[str, float], total: int) -> None:
        """A step ended."""
        if (row["step"] + 1) % 25 == 0:
            say(f"  step {row['step'] + 1:.0f}: efficiency {row['efficiency']:.2f}, deadlock {row['deadlock']:.2f}")


def say(text: str) -> None:
    """Shows a line at once."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


def checkpoint(out: Path, arm: str, seed: int) -> Path:
    """The last checkpoint of a run that is done."""
    return out / f"{arm}-{seed}" / "last"


def train(out: Path, arm: str, seed: int, steps: int) -> None:
    """Trains an arm of a seed, or goes on with it, unless it is done."""
    folder = out / f"{arm}-{seed}"
    if (folder / "checkpoints" / f"step-{steps:04d}").is_dir():
        return
    base = str(out / f"base-{seed}")
    recipe = load_recipe("quick", {**SMALL, **ARMS[arm], "seed": seed, "model": base, "steps": steps})
    directory = RunDir(folder)
    started = time.process_time()
    Run(recipe, directory, Watcher(), resume=(folder / "recipe.yaml").exists()).train()
    directory.release()
    say(f"{arm}, seed {seed}: {time.process_time() - started:.0f} CPU seconds")


def play_cells(out: Path, arm: str, seeds: Sequence[int], games: int, steps: int) -> list[Cell]:
    """The cells of an arm."""
    names = {str(checkpoint(out, arm, seed)): str(seed) for seed in seeds}
    matrix = cross_play([*names, *SCRIPTED], RULES, games, host=host_of(list(names)))
    cells = list(_of_matrix(matrix, arm, names, steps))
    for folder, seed in names.items():
        table = dinner(*load(folder), Recipe(max_tokens=16))
        plays = [
            Play(RULES, episode_seed("test", name), f"{name}/reflection", _mirrored(name))
            for name in (sample_id(RULES.n, 0, game) for game in range(games))
        ]
        of = [terms(episode.record) for episode in table.play(plays, keep=False)]
        sides = [
            [fmean(m for s, m in enumerate(t.meals) if (s in p.mirrored) is side) for side in (False, True)]
            for t, p in zip(of, plays, strict=True)
        ]
        efficiency, deadlock = fmean(t.efficiency for t in of), fmean(float(t.deadlocked) for t in of)
        meals = [fmean(side[which] for side in sides) for which in (0, 1)]
        cells.append(Cell(steps, arm, seed, REFLECTION, games, efficiency, deadlock, *meals))
    return cells


def _mirrored(game: str) -> frozenset[int]:
    """The seats that see a game in the mirror."""
    return split_seats(Coin("reflection", game), RULES.n)


def _of_matrix(matrix: Matrix, arm: str, names: dict[str, str], steps: int) -> Iterable[Cell]:
    for (first, second), cell in matrix.cells.items():
        efficiency, deadlock = cell.efficiency.mean, cell.deadlock.mean
        if first in names and efficiency is not None and deadlock is not None:
            meals = [cell.meals[one].mean or 0.0 for one in (first, second)]
            other = names.get(second, second)
            yield Cell(steps, arm, names[first], other, cell.plays, efficiency, deadlock, *meals)


def written(cells: Sequence[Cell]) -> str:
    """The cells as CSV."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for cell in cells:
        values = (getattr(cell, name) for name in COLUMNS)
        table.writerow([round(value, 4) if isinstance(value, float) else value for value in values])
    return text.getvalue()


def read(text: str) -> list[Cell]:
    """The cells of such a CSV."""
    return [
        Cell(
            int(row["steps"]), row["arm"], row["first"], row["second"], int(row["games"]), float(row["efficiency"]),
            float(row["deadlock"]), float(row["meals_first"]), float(row["meals_second"]),
        )
        for row in csv.DictReader(io.StringIO(text))
    ]  # fmt: skip


def by_seed(cells: Sequence[Cell], arm: str, kind: str, number: str) -> dict[str, float]:
    """A number of every seed of an arm: alone (`self`), the mean with other seeds (`seeds`), or with one partner."""
    found: dict[str, list[float]] = {}
    for cell in cells:
        if cell.arm != arm:
            continue
        what = "self" if cell.first == cell.second else "seeds" if cell.second.isdigit() else cell.second
        if what == kind:
            for seed in {cell.first, cell.second} if kind == "seeds" else {cell.first}:
                found.setdefault(seed, []).append(float(getattr(cell, number)))
    return {seed: fmean(some) for seed, some in sorted(found.items())}


def summary(cells: Sequence[Cell]) -> list[str]:
    """For every kind of table the mean of each arm over seeds, and its paired difference to `plain` (95%, t)."""
    lines = []
    for kind in ("self", "seeds", REFLECTION, *SCRIPTED):
        for number in ("efficiency", "deadlock"):
            plain, parts = by_seed(cells, "plain", kind, number), []
            for arm in ARMS:
                of = by_seed(cells, arm, kind, number)
                if not of:
                    continue
                text = f"{arm} {fmean(of.values()):.2f}"
                if arm != "plain":
                    apart = mean_interval([of[seed] - plain[seed] for seed in of if seed in plain])
                    if apart.mean is not None and apart.interval is not None:
                        text += f" ({apart.mean:+.2f}, {apart.interval.low:+.2f} to {apart.interval.high:+.2f})"
                parts.append(text)
            lines.append(f"{kind:15} {number:10} " + "   ".join(parts))
    return lines


def price(cells: Sequence[Cell]) -> list[str]:
    """For every arm self-play minus cross-play with the other seeds, and its paired difference to `plain`."""
    lost = {}
    for arm in ARMS:
        alone, others = (by_seed(cells, arm, kind, "efficiency") for kind in ("self", "seeds"))
        lost[arm] = {seed: own - others[seed] for seed, own in alone.items() if seed in others}
    lines = []
    for arm, of in lost.items():
        if not of:
            continue
        text = f"self-play minus cross-play: {arm} {fmean(of.values()):+.3f}"
        if arm != "plain":
            apart = mean_interval([value - lost["plain"][seed] for seed, value in of.items() if seed in lost["plain"]])
            if apart.mean is not None and apart.interval is not None:
                text += f" (to plain {apart.mean:+.3f}, {apart.interval.low:+.3f} to {apart.interval.high:+.3f})"
        lines.append(text)
    return lines


def numbers(text: str) -> list[int]:
    """Seeds as `61-65` or `61,62`."""
    first, dash, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if dash else [int(part) for part in text.split(",")]


def main() -> None:
    """Runs what is not done yet, and shows all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=numbers, required=True, help="61-65 or 61,62")
    parser.add_argument("--out", type=Path, required=True, help="the folder of all runs")
    parser.add_argument("--steps", type=int, default=100, help="steps of each run (default %(default)s)")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS), help="all by default")
    parser.add_argument("--games", type=int, default=GAMES, help="games of each cell (default %(default)s)")
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    for seed in given.seeds:
        if not (base := given.out / f"base-{seed}").exists():
            build_base(load_recipe("quick", {"seed": seed}), base, say)
        for arm in given.arms:
            train(given.out, arm, seed, given.steps)
    cells = [cell for arm in given.arms for cell in play_cells(given.out, arm, given.seeds, given.games, given.steps)]
    write(given.out / "cells.csv", written(cells))
    for line in (*summary(cells), *price(cells)):
        say(line)


if __name__ == "__main__":
    main()
