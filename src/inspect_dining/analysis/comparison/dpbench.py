"""DPBench's published results and our own games in one table, as reported and as rescored.

A cell is one model under one condition. Cells are never pooled, whatever their versions or sizes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf
from pathlib import Path

from inspect_dining.border import plain
from inspect_dining.dpbench.published.files import Cell, Episode, canonical, find, of_record, read
from inspect_dining.errors import BadInput
from inspect_dining.statistics import Estimate, Interval, estimate, exact_test, holm, newcombe, share_interval

OURS = "inspect_dining"
"""The version name of cells played by this package."""
RECORD = "inspect_dining:dpbench"
"""The key of the record in a sample's store."""
_UNREAD = {"events", "events_data", "messages", "attachments", "output", "timelines", "choices", "sandbox"}


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a cell.

    Attributes:
        name: Its name.
        value: Takes one scoring of an episode; returns None if it does not apply. Consistency is pooled and has none.
        column: Its column in dpbench's tables of cells.
        most: The largest possible value.
    """

    name: str
    value: Callable[[Episode, bool], float | None] | None
    column: str
    most: float = inf


METRICS = (
    Metric("deadlock", lambda e, again: float(e.scored(again).deadlock), "deadlock_rate", 1),
    Metric("throughput", lambda e, again: e.scored(again).throughput, "avg_throughput"),
    Metric("fairness", lambda e, again: e.scored(again).fairness, "avg_fairness", 1),
    Metric("time_to_deadlock", lambda e, again: e.scored(again).time_to_deadlock, "avg_time_to_deadlock"),
    Metric("starvation", lambda e, again: e.scored(again).starvation, "avg_starvation_count"),
    Metric("consistency", None, "message_action_consistency", 100),
)
"""DPBench's six metrics."""


@dataclass(frozen=True, slots=True)
class CellSummary:
    """The results of a cell.

    Attributes:
        cell: The cell.
        episodes: The number of its episodes.
        reported: Each metric as dpbench reports it.
        corrected: Each metric as rescored.
        proven: Whether the file holds enough for that.
        phantoms: Episodes in which a philosopher counted a fork as held that was not; None if no states are known.
    """

    cell: Cell
    episodes: int
    reported: dict[str, Estimate]
    corrected: dict[str, Estimate]
    proven: bool
    phantoms: int | None


@dataclass(frozen=True, slots=True)
class CellContrast:
    """The corrected deadlock rates of two cells under one condition.

    Attributes:
        condition: The condition.
        first: The first cell's model and version.
        second: The second's.
        difference: Its rate minus that of the first.
        interval: Newcombe's interval.
        test: The exact test.
        p: Its p-value, adjusted by Holm over all contrasts.
    """

    condition: str
    first: str
    second: str
    difference: float
    interval: Interval | None
    test: str
    p: float | None


def cells(paths: Sequence[str], notes: list[str]) -> list[Cell]:
    """Reads the cells of dpbench's own files, Inspect logs of `inspect_dining/dpbench`, or folders of either.

    If a log and a table hold the same episodes, only the log counts, since it holds more.

    Args:
        paths: Files and folders.
        notes: Collects a sentence for everything that was left out.

    Raises:
        BadInput: A path does not exist or has no known kind, or there is nothing to read.
    """
    cells: list[Cell] = []
    for given in paths:
        path = Path(given)
        if not path.exists():
            raise BadInput(f"{given} does not exist; name a file of dpbench's, an Inspect log, or a folder of them.")
        if path.is_dir() or path.suffix in (".eval", ".json"):
            cells += _played(path, notes)
        if path.suffix not in (".eval", ".json"):
            cells += [cell for file in find(path) for cell in read(file, notes)]
    kept = [cell for cell in cells if not _repeats(cell, cells)]
    if len(kept) < len(cells):
        notes.append(f"{len(cells) - len(kept)} cells came from a log and from a table too; the logs count.")
    if not kept:
        raise BadInput(" ".join([f"There is no result of DPBench in {', '.join(map(str, paths))}.", *notes]))
    return sorted(kept, key=lambda cell: (cell.condition, cell.model, cell.version, cell.source))


def _repeats(cell: Cell, all_cells: Sequence[Cell]) -> bool:
    """Whether a cell of a table has the same episodes as one of a log."""
    own = [episode.reported.meals for episode in cell.episodes]
    return cell.source.endswith(".csv") and any(
        other.source.endswith(".jsonl")
        and (other.model, other.condition) == (cell.model, cell.condition)
        and (not own or own == [episode.reported.meals for episode in other.episodes])
        for other in all_cells
    )


def _played(path: Path, notes: list[str]) -> list[Cell]:
    """The cells of Inspect logs of the task."""
    from inspect_dining.analysis.inputs import log_files

    cells = []
    for source in log_files.find([path], [] if path.is_dir() else notes):
        log = log_files.head(source, notes)
        if log is None:
            continue
        games: dict[str, list[Episode]] = {}
        cut = 0
        for sample in log_files.samples(log, _UNREAD, notes):
            if isinstance(sample, log_files.Unread):
                notes.append(f"{plain(sample.id)} of {path.name} was left out: {sample.why}")
                continue
            data = sample.store.get(RECORD)
            if data is None:
                continue
            try:
                game = None if sample.error is not None else of_record(data)
            except ValueError as error:
                notes.append(f"{plain(sample.id)} of {path.name} was left out: {error}")
                continue
            if game is None:
                cut += 1
                continue
            record, episode = game
            name = canonical(plain(sample.metadata.get("condition", "unknown"), 80))
            games.setdefault(name if not record.rules.exact else f"{name} (as 0.2.1)", []).append(episode)
        if cut:
            notes.append(f"{cut} games of {path.name} did not end and were left out.")
        cells += [
            Cell(plain(log.location or path), plain(log.eval.model), name, OURS, tuple(episodes))
            for name, episodes in games.items()
        ]
    return cells


def summary(cell: Cell) -> CellSummary:
    """The results of a cell, with 95% intervals if they are valid; none for consistency, which is pooled."""
    if cell.row:
        return _row_summary(cell)
    known = [episode.phantoms for episode in cell.episodes if episode.phantoms is not None]
    return CellSummary(
        cell,
        len(cell.episodes),
        reported={metric.name: _estimate(metric, cell.episodes, again=False) for metric in METRICS},
        corrected={metric.name: _estimate(metric, cell.episodes, again=True) for metric in METRICS},
        proven=all(episode.proven for episode in cell.episodes),
        phantoms=sum(count > 0 for count in known) if known else None,
    )


def _estimate(metric: Metric, episodes: Iterable[Episode], again: bool) -> Estimate:
    chosen = list(episodes)
    if metric.value is None:
        stated = sum(one.scored(again).stated for one in chosen)
        kept = sum(one.scored(again).kept for one in chosen)
        return Estimate(100 * kept / stated if stated else None, None, len(chosen))
    values = [value for one in chosen if (value := metric.value(one, again)) is not None]
    return estimate(values, share=metric.name == "deadlock", least=0, most=metric.most)


def _row_summary(cell: Cell) -> CellSummary:
    """The numbers of a row of a table, as written there."""
    episodes = _number(cell.row.get("episodes"))
    count = int(episodes) if episodes is not None and 0 < episodes < 1e6 else 0
    reported = {metric.name: Estimate(_number(cell.row.get(metric.column)), None, count) for metric in METRICS}
    rate = reported["deadlock"].mean
    if rate is not None and 0 <= rate <= 1:
        reported["deadlock"] = share_interval(round(rate * count), count)
    return CellSummary(cell, count, reported, reported, proven=False, phantoms=None)


def _number(text: str | None) -> float | None:
    """A finite number, or None."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if -inf < value < inf else None


def contrasts(cells: Sequence[Cell]) -> list[CellContrast]:
    """The corrected deadlock rates of all pairs of cells under one condition, by exact tests, adjusted by Holm."""
    found: list[CellContrast] = []
    raw: list[float | None] = []
    for first, second in combinations([cell for cell in cells if cell.episodes], 2):
        if first.condition != second.condition:
            continue
        (a, n), (b, m) = _deadlocks(first), _deadlocks(second)
        test = exact_test(a, n, b, m)
        raw.append(None if test is None else test.p)
        found.append(
            CellContrast(
                first.condition, _who(first), _who(second), b / m - a / n, newcombe(a, n, b, m),
                "undefined" if test is None else test.name, None,
            )
        )  # fmt: skip
    return [replace(one, p=p) for one, p in zip(found, holm(raw), strict=True)]


def _deadlocks(cell: Cell) -> tuple[int, int]:
    return sum(episode.corrected.deadlock for episode in cell.episodes), len(cell.episodes)


def _who(cell: Cell) -> str:
    return f"{cell.model} ({cell.version})"
