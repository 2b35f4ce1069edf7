"""From Inspect's logs to episodes: records with their identity.

    for episode in records("logs"):
        print(episode.run.player.model, episode.n, episode.sample, episode.epoch, episode.status)

Scores come from the record alone. The scores in a log are only compared with them, and every difference is reported as
a note, as is everything that was left out.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_dining.analysis.inputs.episodes import Episode, Run, Status, Usage
from inspect_dining.analysis.inputs.headers import add_unplanned, read_run, size_of
from inspect_dining.analysis.inputs.stored import checked, stored
from inspect_dining.border import check_size, count, finite, plain
from inspect_dining.errors import BadInput
from inspect_dining.table.record import RECORD, replay
from inspect_dining.table.rules import Rules

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

    from inspect_dining.analysis.inputs.log_files import Unread

__all__ = ["RECORD", "Collection", "games", "read", "records"]

UNREAD = {"events", "events_data", "messages", "attachments", "output", "timelines", "choices", "sandbox"}
"""The fields of a sample that are not needed here, which make up nearly all of its size."""
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}|\b[0-9a-f]{9,}\b")


@dataclass(frozen=True, slots=True)
class Collection:
    """The contents of some logs.

    Attributes:
        runs: The runs, in the order in which their logs were given.
        episodes: The episodes that left a trace.
        notes: Sentences on what was left out or looks odd.
    """

    runs: tuple[Run, ...]
    episodes: tuple[Episode, ...]
    notes: tuple[str, ...]


def records(logs: "str | Path | EvalLog") -> tuple[Episode, ...]:
    """The episodes of a log file, a folder of logs, or a log in memory, each with its record and its identity.

    Raises:
        BadInput: There is no dinner in them.
    """
    return read([logs]).episodes


def read(logs: "Sequence[str | Path | EvalLog]", on_sample: Callable[[], None] | None = None) -> Collection:
    """Reads logs.

    Of several logs of one run (retries, or a rescored copy), only the latest counts.

    Args:
        logs: Log files, folders, or logs in memory.
        on_sample: Called after every sample that was read.

    Raises:
        BadInput: A path does not exist, or there is no dinner in any of them.
    """
    from inspect_dining.analysis.inputs.log_files import Unread, find, head, one_with_events, samples

    notes: list[str] = []
    latest: dict[str, tuple[EvalLog, str]] = {}
    for source in find(logs, notes):
        log = head(source, notes)
        if log is None:
            continue
        place = log.location or "the log in memory"
        key = log.eval.task_id
        if key in latest and latest[key][1] != place:
            older, newer = sorted((latest[key], (log, place)), key=lambda one: (one[0].eval.created, one[1]))
            notes.append(f"{_short(older[1])} and {_short(newer[1])} are logs of one run; only the latter counts.")
            latest[key] = newer
        else:
            latest.setdefault(key, (log, place))
    runs: list[Run] = []
    episodes: list[Episode] = []
    for log, place in latest.values():
        run = read_run(log, place, one_with_events(log, UNREAD))
        found: list[Episode] = []
        strangers = repeated = 0
        seen: set[tuple[str, int]] = set()
        for sample in samples(log, UNREAD, notes):
            if on_sample is not None:
                on_sample()
            episode = _unread(run, sample) if isinstance(sample, Unread) else _episode(run, sample)
            if episode is None:
                strangers += 1
                if not found and not _ours(log.eval.task):
                    break
            elif (episode.sample, episode.epoch) in seen:
                repeated += 1
            else:
                seen.add((episode.sample, episode.epoch))
                found.append(episode)
        run = add_unplanned(run, log, found)
        found = [replace(episode, run=run) for episode in found]
        if not found and not _ours(log.eval.task):
            notes.append(
                f"{_short(place)} is a log of the task {plain(log.eval.task)} and holds no dinner; it was left out."
            )
            continue
        if repeated:
            notes.append(f"{repeated} samples of {_short(place)} occur twice; the first counts.")
        if strangers:
            notes.append(f"{strangers} samples of {_short(place)} hold no dinner and were left out.")
        if log.status == "started":
            notes.append(
                f"{_short(place)} is still being written, or its run was killed: {len(found)} of "
                f"{sum(run.sizes.values())} planned episodes are in it."
            )
        elif not found:
            notes.append(f"{_short(place)} holds no samples (was it written with --no-log-samples?).")
        runs.append(run)
        episodes += found
        notes += _oddities(found, place)
    if not runs:
        raise BadInput(" ".join(["There is no dinner to read.", *notes]))
    alike = _comparable(runs)
    episodes = [replace(episode, run=alike[id(episode.run)]) for episode in episodes]
    return Collection(tuple(alike[id(run)] for run in runs), tuple(episodes), tuple(notes))


def _comparable(runs: Sequence[Run]) -> dict[int, Run]:
    """Runs by their `id`; what was sent to models distinguishes runs if it is known for all of them.

    The prompts of our own philosophers belong to the game; those of a custom philosopher are part of the player.
    """
    known = all(run.words for run in runs)
    found = {}
    for run in runs:
        if known and "philosopher" in dict(run.player.settings):
            settings = (*run.player.settings, ("words", run.words))
            found[id(run)] = replace(run, player=replace(run.player, settings=settings), words="")
        else:
            found[id(run)] = run if known else replace(run, words="")
    return found


def games(log: "str | Path | EvalLog", sample: str | None = None, epoch: int | None = None) -> Iterator[Episode]:
    """The games of a log that have a record, one by one, without reading more than needed.

    Args:
        log: A log file, a folder of logs, or a log in memory.
        sample: A sample id; None for all samples.
        epoch: An epoch; None for all epochs.

    Raises:
        BadInput: There is no such game.
    """
    from inspect_dining.analysis.inputs.log_files import Unread, find, head, samples

    notes: list[str] = []
    known: list[str] = []
    count = 0
    for source in find([log], notes):
        header = head(source, notes)
        if header is None:
            continue
        ids = [plain(name) for name in header.eval.dataset.sample_ids or []]
        known += ids
        if sample is not None and sample not in ids:
            continue
        run = read_run(header, header.location)
        for one in samples(header, UNREAD, notes, only=sample):
            episode = None if isinstance(one, Unread) else _episode(run, one)
            if episode is None:
                continue
            if epoch not in (None, episode.epoch):
                continue
            if episode.record is not None:
                count += 1
                yield episode
            else:
                notes.append(f"{episode.sample}, epoch {episode.epoch}, has no record: {episode.reason}.")
    if count == 0:
        near = get_close_matches(sample or "", known, n=1) if sample not in known else []
        notes += [f"Did you mean {near[0]}?"] if near else []
        wanted = "".join([f" of sample {sample}"] * (sample is not None) + [f" in epoch {epoch}"] * (epoch is not None))
        raise BadInput(" ".join([f"There is no game{wanted} in {log}.", *notes]))


def _ours(task: str) -> bool:
    return task.rsplit("/", 1)[-1].rsplit("@", 1)[-1] == "philosophers"


def _short(place: str) -> str:
    return plain(place.rsplit("/", 1)[-1])


def _episode(run: Run, sample: "EvalSample") -> Episode | None:
    """The episode of a sample, or None if the sample is not a dinner."""
    data = stored(sample)
    record, reason = None, ""
    try:
        record = None if data is None else checked(data)
    except ValueError as error:
        reason = plain(error)
    name = str(sample.id)
    rules = record.rules if record else _stated(sample.metadata.get("rules")) or run.rules.get(size_of(name) or 0)
    if rules is None:
        return None
    if record is not None and size_of(name) not in (None, rules.n):
        record, reason = None, f"its record is for a table of {rules.n}, but its id is for one of {size_of(name)}"
        rules = replace(rules, n=size_of(name) or rules.n)
    cancelled = sample.error is not None and sample.error.message.startswith("CancelledError")
    if record is None or sample.invalidation is not None or (sample.error is not None and not cancelled):
        status = Status.ERRORED
        told = sample.error.message if sample.error else "invalidated" if record else "there is no record"
        reason = reason or told
    else:
        status = Status.SCORED if record.complete else Status.CUT
        reason = "" if record.complete else record.ended.removeprefix("cut: ")
        if status is Status.CUT and reason == "stopped":
            reason = f"{sample.limit.type} limit" if sample.limit else "cancelled"
    if status is Status.ERRORED and record is None and cancelled and not data:
        status, reason = Status.CUT, "cancelled"
    logged = {
        plain(key): number
        for key, score in (sample.scores or {}).items()
        if (number := finite(score.value)) is not None
    }
    usage = _usage(sample, rules.n)
    if ("failures", "crash") in run.setup:
        # an unplanned crash is added to the record's rules, but games are compared by what was planned
        rules = _stated(sample.metadata.get("rules")) or rules
    seats = sample.metadata.get("seating")
    names = seats if isinstance(seats, list) and len(seats) == rules.n else [f"seat_{i}" for i in range(rules.n)]
    seating = tuple(run.models.get(str(one), run.models[""]) for one in names)
    episode = Episode(
        run, rules.n, rules, plain(name), sample.epoch, status, record, _clean(reason), usage, logged, seating
    )
    try:
        if record is not None:
            replay(record)
    except ValueError as error:
        return replace(episode, status=Status.ERRORED, record=None, reason=plain(error))
    return episode


def _unread(run: Run, sample: "Unread") -> Episode | None:
    """The episode of an unreadable sample, or None if its rules are not known."""
    rules = run.rules.get(size_of(sample.id) or 0)
    if rules is None:
        return None
    return Episode(
        run, rules.n, rules, plain(sample.id), sample.epoch, Status.ERRORED, None, f"cannot be read ({sample.why})"
    )


def _clean(reason: str) -> str:
    """A reason on one line without memory addresses, so that equal reasons are counted together."""
    lines = reason.strip().splitlines()
    return plain(_ADDRESS.sub("...", lines[0]) if lines else "")


def _stated(options: object) -> Rules | None:
    """The rules that a sample's metadata state, or None if they are not our rules."""
    if not isinstance(options, dict):
        return None
    try:
        check_size(options.get("n"), options.get("rounds"))
        return Rules(**options)
    except (ValueError, TypeError):
        return None


def _usage(sample: "EvalSample", n: int) -> Usage:
    used = list(sample.model_usage.values())
    costs = [finite(usage.total_cost) for usage in used]
    known = [cost for cost in costs if cost is not None]
    seats = [sample.role_usage.get(f"seat_{seat}") for seat in range(n)]
    return Usage(
        tokens=sum(count(usage.total_tokens) for usage in used),
        cost=sum(known) if used and len(known) == len(used) else None,
        seats=tuple(count(usage.total_tokens) if usage else 0 for usage in seats),
    )


def _oddities(episodes: Sequence[Episode], place: str) -> Iterator[str]:
    unlike = [(episode, how) for episode in episodes if (how := episode.disagrees) is not None]
    if unlike:
        episode, how = unlike[0]
        yield (
            f"{len(unlike)} of {len(episodes)} episodes of {_short(place)} have scores that are not their record's; "
            f"the record counts. The first is {episode.sample}, epoch {episode.epoch}: {how}."
        )
    if episodes and episodes[0].run.shaping is None:
        yield (
            f"The reward {episodes[0].run.reward_name} of {_short(place)} cannot be computed here and is left out; "
            "name a shaping to score every run the same way."
        )
