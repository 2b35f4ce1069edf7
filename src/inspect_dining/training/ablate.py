"""The ablation: the paper's recipe, and every combination of its three proposals at the same budget.

The proposals are those of arXiv 2606.07845: another reward, the best checkpoint instead of the last, a curriculum. All
eight combinations of a recipe's versions of them are run (none, each alone, each left out, all), with several seeds and
the same initial weights per seed. In addition, the paper's recipe is run unchanged, and all three are run without the
bonus on seats that act apart, which the eight share. Two combinations that differ only in the checkpoint they keep are
trained once. A finished run is not repeated, and a killed one is continued.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import isnan, nan
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean

from rich import box
from rich.table import Table

from inspect_dining.errors import BadInput
from inspect_dining.files import write, write_folder, writing
from inspect_dining.statistics import mean_interval
from inspect_dining.training.recipe import TINY, Recipe, Stage, load

PROPOSALS = ("reward", "best", "curriculum")
PAPER = "paper"
MEASURES = ("deadlock", "efficiency", "fed")


@dataclass(frozen=True, slots=True)
class Variant:
    """One recipe of the ablation.

    Attributes:
        name: Its name, which is also that of its folders.
        recipe: The recipe without the seed.
    """

    name: str
    recipe: Recipe


def variants(recipe: Recipe) -> list[Variant]:
    """The paper's recipe, and the eight combinations of the three proposals at the recipe's budget."""
    paper = load(PAPER)
    kept = ("model", "order", "release", "ties", "patience", "hint", "dtype", "max_tokens", "thinking", "restarts")
    tests = ("test_sizes", "test_rounds", "test_episodes")
    # At its own rate, the paper's recipe barely changes a tiny model, so it gets the rate of the others.
    rates = {"rate": recipe.rate, "rate_last": recipe.rate}
    control = paper.model_copy(update={key: getattr(recipe, key) for key in (*kept, *tests)} | rates)
    made = [Variant(PAPER, control)]
    without: Mapping[str, dict[str, object]] = {
        "reward": {"shaping": paper.shaping, "weights": paper.weights},
        "best": {"keep": "last"},
        "curriculum": {"stages": (Stage(games=paper.stages[0].games),)},
    }
    for taken in product((False, True), repeat=len(PROPOSALS)):
        changes: dict[str, object] = {}
        names = [name for name, is_taken in zip(PROPOSALS, taken, strict=True) if is_taken]
        for name in PROPOSALS:
            changes |= {} if name in names else without[name]
        made.append(Variant("+".join(names) or "none", recipe.model_copy(update=changes)))
    if recipe.diversity:
        made.append(Variant("all but diversity", recipe.model_copy(update={"diversity": 0.0})))
    return made


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the ablation: a recipe with its seed, and its folder."""

    name: str
    recipe: Recipe
    path: Path


class _Unseen:
    """A watcher that ignores everything, for the runs of an ablation."""

    def line(self, text: str) -> None:
        return

    def step(self, row: dict[str, float], total: int) -> None:
        return


def work(jobs: Sequence[Job]) -> list[Job]:
    """Runs or continues the first job to its end; the others only keep another checkpoint of the same run."""
    import torch

    from inspect_dining.training.keep.run_directory import RunDir
    from inspect_dining.training.run import Run
    from inspect_dining.training.selection import settle

    first, *twins = jobs
    if first.recipe.model == TINY:
        torch.set_num_threads(1)
    run = Run(first.recipe, RunDir(first.path), _Unseen(), resume=(first.path / "recipe.yaml").exists())
    run.train()
    run.test()
    for twin in twins:
        write_folder(twin.path, partial(_copy, first.path, twin.recipe))
        run = Run(twin.recipe, RunDir(twin.path), _Unseen(), resume=True)
        settle(twin.recipe, run.dir)
        run.test()
    return list(jobs)


def _copy(run: Path, recipe: Recipe, folder: Path) -> None:
    """Copies a run without its results, under another recipe."""
    from inspect_dining.training.keep.run_directory import RunDir

    shutil.copytree(
        run,
        folder,
        symlinks=True,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("table.json", ".lock", "lock.json"),
    )
    RunDir(folder).keep_recipe(recipe)


def teach(recipe: Recipe, path: Path) -> Path:
    """Builds the tiny model of a recipe's seed, from which all variants of that seed start."""
    import torch

    from inspect_dining.training.tiny.base import build_base

    torch.set_num_threads(1)
    build_base(recipe, path, _Unseen().line)
    return path


def ablate(
    recipe: Recipe, seeds: Sequence[int], out: Path, *, jobs: int = 1, told: Callable[[str], None] = lambda line: None
) -> dict[str, list[dict[str, object]]]:
    """Runs whatever is not on disk yet, and returns the before/after table of every seed for each variant.

    Args:
        recipe: The recipe whose proposals are included and left out.
        seeds: The seeds of every variant.
        out: The folder of all runs.
        jobs: Runs in parallel, each in its own process.
        told: Receives a line for every run that ends.

    Raises:
        BadInput: The folder holds runs of another recipe.
    """
    all_jobs = [
        Job(variant.name, variant.recipe.model_copy(update={"seed": seed}), out / f"{variant.name}-{seed}")
        for seed in seeds
        for variant in variants(recipe)
    ]
    for job in all_jobs:
        _refuse_another(job)
    finished = {job.path for job in all_jobs if (job.path / "table.json").is_file()}
    told(f"{len(all_jobs)} runs, {len(finished)} of them done.")
    twins: dict[Recipe, list[Job]] = {}
    for job in all_jobs:
        twins.setdefault(job.recipe.model_copy(update={"keep": "best"}), []).append(job)
    left = [some for some in twins.values() if not finished.issuperset(job.path for job in some)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        if recipe.model == TINY:
            missing = [seed for seed in seeds if not (out / f"base-{seed}").is_dir()]
            taught = [pool.submit(teach, recipe.model_copy(update={"seed": s}), out / f"base-{s}") for s in missing]
            for done in as_completed(taught):
                told(f"Taught {done.result().name}.")
            for first, *_ in left:
                if not (first.path / "base").is_dir():
                    shutil.copytree(out / f"base-{first.recipe.seed}", first.path / "base")
        for ended in as_completed([pool.submit(work, some) for some in left]):
            told(f"Done: {', '.join(job.path.name for job in ended.result())}.")
    found: dict[str, list[dict[str, object]]] = {}
    for job in all_jobs:
        found.setdefault(job.name, []).append(json.loads((job.path / "table.json").read_text(encoding="utf-8")))
    return found


def _refuse_another(job: Job) -> None:
    from inspect_dining.training.keep.run_directory import RunDir

    if (job.path / "recipe.yaml").is_file() and RunDir(job.path).recipe() != job.recipe:
        raise BadInput(
            f"{job.path} holds a run of another recipe; use another --out, or the recipe that it began with."
        )


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over seeds with half of its 95% t interval; NaN for one seed, and if no two seeds differ."""

    mean: float
    half: float

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if isnan(self.half) else f"{self.mean:.2f} ± {self.half:.2f}"


def mean_of(values: Sequence[float]) -> Mean:
    """The mean of the seeds' values."""
    found = mean_interval(values)
    return Mean(fmean(values), nan if found.interval is None else (found.interval.high - found.interval.low) / 2)


def rows(found: Mapping[str, Sequence[Mapping[str, object]]]) -> Iterator[tuple[str, int, str, dict[str, Mean]]]:
    """The measures over seeds for each variant, size and way to play."""
    for name, tables in found.items():
        cells: dict[tuple[int, str], list[dict[str, float]]] = {}
        for table in tables:
            after = table["after"]
            assert isinstance(after, list)
            for cell in after:
                cells.setdefault((int(cell["n"]), str(cell["play"])), []).append(cell)
        for (n, play), some in cells.items():
            yield name, n, play, {measure: mean_of([cell[measure] for cell in some]) for measure in MEASURES}


def table(found: Mapping[str, Sequence[Mapping[str, object]]], recipe: Recipe, seeds: Sequence[int]) -> Table:
    """The ablation as one table."""
    hint = "with the parity hint" if recipe.hint == "parity" else "without a hint"
    made = Table(
        title=f"Ablation of {recipe.name} on {recipe.model}, {hint}, {len(seeds)} seeds, T={recipe.test_rounds}",
        box=box.SIMPLE_HEAD,
        padding=0,
    )
    for label in ("variant", "n", "play", *MEASURES, "restarts"):
        made.add_column(label, no_wrap=True)
    for name, n, play, measures in rows(found):
        restarts = sum(int(str(one["restarts"])) for one in found[name])
        made.add_row(name, str(n), play, *(str(measures[m]) for m in MEASURES), str(restarts))
    return made


def picture(found: Mapping[str, Sequence[Mapping[str, object]]], path: Path) -> None:
    """Draws efficiency and deadlock of every variant, with intervals."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = list(rows(found))
    columns = sorted({(n, play) for _, n, play, _ in shown}, key=lambda column: (column[1] != "sampled", column[0]))
    figure = Figure(figsize=(3 * len(columns), 6), layout="constrained")
    FigureCanvasAgg(figure)
    names = list(found)
    for row, measure in enumerate(("efficiency", "deadlock")):
        for place, (n, play) in enumerate(columns):
            axes = figure.add_subplot(2, len(columns), row * len(columns) + place + 1)
            means = {name: m[measure] for name, size, how, m in shown if (size, how) == (n, play)}
            axes.barh(names, [means[name].mean for name in names], xerr=[_finite(means[name].half) for name in names])
            axes.set_xlim(0, 1.05)
            axes.set_title(f"{measure}, n={n}, {play}", fontsize=9)
            axes.invert_yaxis()
            if place:
                axes.set_yticklabels([])
    with writing(path) as beside:
        figure.savefig(beside, dpi=110)


def _finite(value: float) -> float:
    return 0.0 if isnan(value) else value


def written(found: Mapping[str, Sequence[Mapping[str, object]]], path: Path) -> None:
    """Writes the numbers of all runs."""
    write(path, json.dumps(found, indent=1) + "\n")
