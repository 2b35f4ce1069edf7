"""Reading dpbench's own files, so that published results can be rescored and compared with ours.

Three kinds of file are read, each as far as its content allows:

* The JSONL log of a run (`log.jsonl`: a header, a line per timestep, a line per episode). Everything is rescored from
  the states and decisions in it, for both dpbench 0.1 and 0.2: a deadlock is a last state in which every philosopher is
  hungry and holds one fork, whatever the file reports.
* The CSV of a cell's episodes (`episode_id,total_timesteps,deadlock,...`). It holds no states; but only a deadlock ends
  a game before the horizon of its condition.
* Tables of whole cells (`master.csv`, `summary.csv`). Their counts and means are shown unchanged, and nothing can be
  rescored.

Names of models and conditions come from `metrics.json` next to a log, else from the names of files and folders.
Anything that cannot be read is left out with a note.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from inspect_dining.border import plain
from inspect_dining.dpbench.metrics import Outcome, consistency_counts, outcome
from inspect_dining.dpbench.published.values import (
    parse_bool,
    parse_count,
    parse_object,
    take_count,
    take_list,
    take_object,
)
from inspect_dining.dpbench.record import Record
from inspect_dining.dpbench.rules import CONDITIONS, EIGHT
from inspect_dining.dpbench.table import Action
from inspect_dining.errors import BadInput

MOST_BYTES = 2**29
"""The maximum bytes of one file; a log of thirty games with every prompt has about 2**25."""
UNKNOWN = "unknown"
"""Shown if a file does not say."""
Said = tuple[Action, str | None]


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode, as reported by its file and as rescored.

    Attributes:
        reported: The outcome reported by dpbench.
        corrected: The outcome proved by its states, with fairness 0 if nobody ate and every decision counted once.
        proven: Whether the file holds enough for `corrected`; if not, that repeats the reported outcome.
        phantoms: Timesteps after which a philosopher counts a fork as held that is not; None if no states are known.
    """

    reported: Outcome
    corrected: Outcome
    proven: bool = True
    phantoms: int | None = None

    def scored(self, again: bool) -> Outcome:
        """The episode as rescored or as reported."""
        return self.corrected if again else self.reported


@dataclass(frozen=True, slots=True)
class Cell:
    """The episodes of one model under one condition.

    Attributes:
        source: The file.
        model: The model.
        condition: The condition, by dpbench's long name if it has one.
        version: The version of dpbench, or `inspect_dining` for our own games.
        episodes: The episodes; empty for a row of a table.
        row: The columns, for a row of a table.
    """

    source: str
    model: str
    condition: str
    version: str
    episodes: tuple[Episode, ...] = ()
    row: Mapping[str, str] = field(default_factory=dict)


def read(path: Path, notes: list[str]) -> list[Cell]:
    """Reads the cells of one of dpbench's files.

    Args:
        path: A JSONL log, or a CSV of episodes or of cells.
        notes: Collects a sentence for everything that was left out.

    Raises:
        BadInput: The file cannot be read, or is not one of the three kinds.
    """
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise BadInput(f"{plain(path)} has {size:,} bytes; at most {MOST_BYTES:,} are read.")
        if path.suffix == ".jsonl":
            return [_log(path, notes)]
        if path.suffix == ".csv":
            return _csv(path, notes)
    except OSError as error:
        raise BadInput(f"{plain(path)} cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{plain(path)} is no text file of dpbench's: {error}.") from error
    raise BadInput(f"{plain(path)} is no file of dpbench's: a log (.jsonl) or a table (.csv) is accepted.")


def of_record(data: object) -> tuple[Record, Episode] | None:
    """One of our own games, from the plain values of its record; None for a cut one.

    Raises:
        ValueError: The data is not a record of a DPBench game, or does not replay.
    """
    record = Record.from_dict(data)
    if not record.complete:
        return None
    scored = outcome(record)
    return record, Episode(scored, scored)


def canonical(condition: str) -> str:
    """A condition by its long name: `sim_n5_nocomm` for `sim5nc`."""
    return EIGHT.get(condition, condition)


# --- logs


@dataclass(slots=True)
class _Running:
    """An episode of a log while its lines are being read."""

    rows: int = 0
    seats: list[tuple[bool, bool, bool]] = field(default_factory=list)
    locked: list[bool] = field(default_factory=list)
    phantoms: int = 0
    recorded: list[Said] = field(default_factory=list)
    once: list[Said] = field(default_factory=list)


def _log(path: Path, notes: list[str]) -> Cell:
    """The cell of a JSONL log."""
    model, condition, version = _named(path)
    sequential, n = False, 0
    running: dict[int, _Running] = {}
    episodes: list[Episode] = []
    broken: list[str] = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                entry = parse_object(line)
                kind = entry.get("type")
                if kind == "header":
                    config = take_object(entry, "config")
                    sequential, n = config.get("mode") == "sequential", take_count(config, "num_philosophers")
                    version = plain(take_object(entry, "environment").get("dpbench_version", version), 20)
                elif kind == "timestep":
                    _timestep(running.setdefault(take_count(entry, "episode_id"), _Running()), entry, n, sequential)
                elif kind == "episode_end":
                    episodes.append(_ended(running.pop(take_count(entry, "episode_id"), _Running()), entry, n))
                else:
                    raise ValueError("it is of no known type")
            except ValueError as error:
                broken.append(f"line {number}: {error}")
    if not n:
        raise BadInput(f"{plain(path)} is no log of dpbench's: it has no header that says how many philosophers play.")
    if broken:
        notes.append(f"{plain(path)}: {len(broken)} lines were left out ({broken[0]}).")
    if running:
        notes.append(f"{plain(path)}: {len(running)} episodes have no end and were left out.")
    return Cell(plain(path, None), model, condition, version, tuple(episodes))


def _named(path: Path) -> tuple[str, str, str]:
    """Model, condition and version of a log: from `metrics.json` next to it, else from its folders."""
    about: Mapping[str, object] = {}
    beside = path.with_name("metrics.json")
    if beside.is_file():
        try:
            about = parse_object(beside.read_text(encoding="utf-8"))
        except (ValueError, OSError):
            about = {}
    folder, above = path.parent.name, path.parent.parent.name
    old = re.fullmatch(r"(?P<model>.+)_(?P<condition>(?:sim|seq)\d+n?c)", folder)
    model, condition = (old["model"], old["condition"]) if old else (above, folder)
    return (
        plain(about.get("model") or model or UNKNOWN, 80),
        canonical(plain(about.get("condition") or condition or UNKNOWN, 80)),
        plain(about.get("dpbench_version", UNKNOWN), 20),
    )


def _timestep(episode: _Running, entry: Mapping[str, object], n: int, sequential: bool) -> None:
    """Processes the line of a timestep."""
    state = take_object(entry, "table_state")
    seats = [_seat(one) for one in take_list(state, "philosophers")]
    holders = [one.get("holder") if isinstance(one, Mapping) else None for one in take_list(state, "forks")]
    decisions = [_decision(one) for one in take_list(entry, "decisions")]
    if len(seats) != n or len(holders) != n:
        raise ValueError(f"its state is not one of {n} philosophers")
    phantom = any(
        (left and holders[seat] != seat) or (right and holders[(seat + 1) % n] != seat)
        for seat, (_, left, right) in enumerate(seats)
    )
    said = [one for _, one in decisions]
    if sequential and episode.rows:
        # after the first pass dpbench writes all latest decisions at every action, only one of which is new
        actor = (take_count(entry, "timestep") - 1) % n
        said = [one for seat, one in decisions if seat == actor]
    episode.rows += 1
    episode.seats = seats
    episode.locked.append(all(not eating and left != right for eating, left, right in seats))
    episode.phantoms += phantom
    episode.recorded += [one for _, one in decisions]
    episode.once += said


def _ended(episode: _Running, entry: Mapping[str, object], n: int) -> Episode:
    """Builds the episode from its closing line."""
    meals = tuple(parse_count(one) for one in take_list(entry, "meals_per_philosopher"))
    timesteps, deadlock = take_count(entry, "total_timesteps"), entry.get("deadlock")
    if len(meals) != n or not isinstance(deadlock, bool):
        raise ValueError("it is no end of an episode")
    # a locked state in the middle was cleared: the game continues after a deadlock and is not ended by one
    proven = episode.locked[-1] and not any(episode.locked[:-1]) if episode.locked else deadlock
    stated, kept = consistency_counts(episode.recorded)
    stated_once, kept_once = consistency_counts(episode.once)
    return Episode(
        Outcome(n, timesteps, deadlock, meals, 1.0, stated, kept),
        Outcome(n, timesteps, proven, meals, 0.0, stated_once, kept_once),
        proven=bool(episode.locked),
        phantoms=episode.phantoms if episode.locked else None,
    )


def _seat(value: object) -> tuple[bool, bool, bool]:
    """Whether a philosopher is eating, and the forks that it counts as held."""
    if not isinstance(value, Mapping) or value.get("state") not in ("eating", "hungry"):
        raise ValueError("it holds no state of a philosopher")
    return value["state"] == "eating", value.get("has_left_fork") is True, value.get("has_right_fork") is True


def _decision(value: object) -> tuple[int, Said]:
    """A philosopher, its action, and its message."""
    if not isinstance(value, Mapping):
        raise ValueError("it holds no decision")
    message = value.get("message")
    return take_count(value, "philosopher_id"), (_action(value.get("action")), str(message) if message else None)


def _action(value: object) -> Action:
    try:
        return Action(str(value))
    except ValueError:
        raise ValueError(f"{plain(value, 40)} is none of the four actions") from None


# --- tables

_EPISODES = {"episode_id", "total_timesteps", "deadlock", "meals_per_philosopher"}
_CELLS = {"model", "episodes", "deadlock_rate", "avg_throughput", "avg_fairness"}


def _csv(path: Path, notes: list[str]) -> list[Cell]:
    """The cells of a table: of its episodes, or of its rows."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        columns = set(reader.fieldnames or ())
        rows = [{str(key): str(value) for key, value in row.items()} for row in reader]
    if columns >= _EPISODES:
        return [_episodes(path, rows, notes)]
    if columns >= _CELLS and columns & {"condition", "condition_canonical"}:
        return [
            Cell(
                str(path),
                plain(row["model"], 80),
                canonical(plain(row.get("condition_canonical") or row.get("condition") or UNKNOWN, 80)),
                plain(row.get("dpbench_version", UNKNOWN), 20),
                row=row,
            )
            for row in rows
        ]
    raise BadInput(
        f"{plain(path)} is no table of dpbench's: it has neither the columns of episodes nor those of cells."
    )


def _episodes(path: Path, rows: list[dict[str, str]], notes: list[str]) -> Cell:
    """The cell of a table of episodes, named `<version>_<date>__<model>__<condition>.csv`."""
    parts = path.stem.split("__")
    version, model, condition = parts if len(parts) == 3 else (UNKNOWN, UNKNOWN, path.stem)
    condition = canonical(condition)
    rules = CONDITIONS.get(condition)
    horizon = rules.timesteps if rules is not None and rules.terminal else None
    episodes: list[Episode] = []
    broken: list[str] = []
    for number, row in enumerate(rows, 2):
        try:
            meals = tuple(parse_count(one) for one in row["meals_per_philosopher"].split(";"))
            timesteps, deadlock = parse_count(row["total_timesteps"]), parse_bool(row["deadlock"])
            if len(meals) < 2:
                raise ValueError("a table has at least two philosophers")
        except ValueError as error:
            broken.append(f"line {number}: {error}")
            continue
        early = deadlock if horizon is None else deadlock or timesteps < horizon
        reported = Outcome(len(meals), timesteps, deadlock, meals, 1.0)
        episodes.append(Episode(reported, Outcome(len(meals), timesteps, early, meals), proven=horizon is not None))
    if broken:
        notes.append(f"{plain(path)}: {len(broken)} lines were left out ({broken[0]}).")
    if horizon is None:
        notes.append(
            f"{plain(path)}: the horizon of {plain(condition, 80)} is not known, so its deadlocks are as reported."
        )
    release = plain(version.split("_")[0].removeprefix("v"), 20)
    return Cell(plain(path, None), plain(model, 80), plain(condition, 80), release, tuple(episodes))


def find(path: Path) -> Iterator[Path]:
    """The dpbench files at a path: the file itself, or the logs and the tables of episodes in a folder."""
    if path.is_dir():
        yield from sorted(path.rglob("*.jsonl"))
        yield from sorted(one for one in path.rglob("*.csv") if one.parent.name == "per_episode")
    else:
        yield path
