"""From Inspect's logs to episodes: records with what identifies them.

    for episode in records("logs"):
        print(episode.run.player.model, episode.n, episode.sample, episode.epoch, episode.status)

Scores come from the record alone. What a log says of its scores is only compared with that, and every difference is a
note, as is everything that was left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_dining.analysis.inputs.episodes import Episode, Player, Run, Status, Usage
from inspect_dining.errors import BadInput
from inspect_dining.table.record import Record
from inspect_dining.table.rules import NAMES, Rules

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

RECORD = "inspect_dining:record"
"""The key of the record in a sample's store."""
_UNREAD = {"events", "events_data", "messages", "attachments", "output", "timelines", "choices", "sandbox"}
"""The fields of a sample that are not needed here, and make up nearly all of it."""
_GAMES = {"n", "episodes", "seed"}
"""Task arguments that say which games are played."""
_REWARD = {"shaping", "weights", "throughput", "variance"}
"""Task arguments that say how they are rewarded."""
_RULES = {"rounds", *NAMES}
"""Task arguments that stand in the record's rules."""
_SAMPLING = (
    "temperature", "top_p", "top_k", "max_tokens", "effort", "reasoning_effort", "reasoning_tokens", "extra_body",
    "frequency_penalty", "presence_penalty", "logit_bias", "stop_seqs", "system_message", "reasoning_mode", "verbosity",
)  # fmt: skip
"""Generation settings that change what a model does."""
_CONNECTION = {"host", "port", "base_url", "api_key", "timeout"}
"""Model arguments that say where a model is, not what it is."""


@dataclass(frozen=True, slots=True)
class Collection:
    """What some logs hold.

    Attributes:
        runs: The runs, in the order in which their logs were given.
        episodes: The episodes that left a trace.
        notes: Sentences on what was left out or looks odd.
    """

    runs: tuple[Run, ...]
    episodes: tuple[Episode, ...]
    notes: tuple[str, ...]


def records(logs: "str | Path | EvalLog") -> tuple[Episode, ...]:
    """The episodes of a log file, a folder of logs, or a log in memory, each with its record and what identifies it.

    Raises:
        BadInput: There is no dinner in them, in a sentence.
    """
    return read([logs]).episodes


def read(logs: "Sequence[str | Path | EvalLog]", on_sample: Callable[[], None] | None = None) -> Collection:
    """Reads logs.

    Of several logs of one run - its retries, a copy that was scored again - only the latest counts.

    Args:
        logs: Log files, folders, or logs in memory.
        on_sample: Called after every sample that was read.

    Raises:
        BadInput: A path does not exist, or there is no dinner in any of them, in a sentence.
    """
    from inspect_dining.analysis.inputs.log_files import find, head, samples

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
        run = _run(log, place)
        found: list[Episode] = []
        strangers = 0
        for sample in samples(log, _UNREAD, notes):
            if on_sample is not None:
                on_sample()
            episode = _episode(run, sample)
            if episode is None:
                strangers += 1
                if not found:
                    break
            else:
                found.append(episode)
        if not found and not _ours(log.eval.task):
            notes.append(f"{_short(place)} is a log of the task {log.eval.task} and holds no dinner; it was left out.")
            continue
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
    return Collection(tuple(runs), tuple(episodes), tuple(notes))


def games(log: "str | Path | EvalLog", sample: str | None = None, epoch: int | None = None) -> Iterator[Episode]:
    """The games of a log that have a record, one by one, without reading more than is asked for.

    Args:
        log: A log file, a folder of logs, or a log in memory.
        sample: A sample id; all samples where None.
        epoch: An epoch; all epochs where None.

    Raises:
        BadInput: There is no such game, in a sentence.
    """
    from inspect_dining.analysis.inputs.log_files import find, head, samples

    notes: list[str] = []
    known: list[str] = []
    count = 0
    for source in find([log], notes):
        header = head(source, notes)
        if header is None:
            continue
        ids = [str(name) for name in header.eval.dataset.sample_ids or []]
        known += ids
        if sample is not None and sample not in ids:
            continue
        run = _run(header, header.location)
        for one in samples(header, _UNREAD, notes, only=sample):
            episode = _episode(run, one)
            if episode is None:
                break
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
    return place.rsplit("/", 1)[-1]


def _run(log: "EvalLog", place: str) -> Run:
    about, arguments = log.eval, log.eval.task_args
    epochs = about.config.epochs or 1
    sizes: dict[int, int] = {}
    for name in about.dataset.sample_ids or []:
        size = _size(str(name))
        if size is not None:
            sizes[size] = sizes.get(size, 0) + epochs
    metadata = about.metadata or {}
    prompt = metadata.get("prompt", "unknown")
    setup = {
        **{k: str(v) for k, v in sorted(arguments.items()) if k not in _GAMES | _REWARD | _RULES | {"philosopher"}},
        "prompt": ", ".join(sorted(set(map(str, prompt)))) if isinstance(prompt, list) else str(prompt),
        "version": str(about.task_version),
    }
    if about.solver is not None:
        setup["solver"] = f"{about.solver} {about.solver_args_passed or ''}".strip()
    settings = {k: str(v) for k, v in about.model_args.items() if k not in _CONNECTION}
    config = log.plan.config.merge(about.model_generate_config)
    settings |= {k: str(v) for k, v in config if k in _SAMPLING and v is not None and (k, v) != ("max_tokens", 2048)}
    if arguments.get("philosopher"):
        settings["philosopher"] = str(arguments["philosopher"])
    return Run(
        log=place,
        player=Player(about.model, tuple(_roles(log)), tuple(settings.items())),
        setup=tuple(setup.items()),
        rewarding=_rewarding(log),
        sizes=sizes,
        rules=_rules(log, sizes),
        finished=log.status != "started",
        task_id=about.task_id,
        created=about.created,
    )


def _rewarding(log: "EvalLog") -> dict[str, object]:
    """The arguments of the scorer `reward`, whoever named it, else those of the task."""
    given = [one.options or {} for one in log.eval.scorers or [] if one.name.rsplit("/", 1)[-1] == "reward"]
    named = given[-1] if given else log.eval.task_args
    return {name: value for name, value in named.items() if name in _REWARD}


def _roles(log: "EvalLog") -> Iterator[tuple[str, str]]:
    for role, bound in sorted((log.eval.model_roles or {}).items()):
        for config in bound if isinstance(bound, list) else [bound]:
            set_values = {k: v for k, v in config.config if k in _SAMPLING and v is not None}
            notes = [f"{k}={v}" for k, v in {**config.args, **set_values}.items() if k not in _CONNECTION]
            yield role, config.model + (f" ({', '.join(notes)})" if notes else "")


def _rules(log: "EvalLog", sizes: Iterable[int]) -> dict[int, Rules]:
    """The rules of each size, for games that left no record; none where the task's arguments are not ours."""
    options = {name: value for name, value in log.eval.task_args.items() if name in _RULES}
    try:
        return {n: Rules(n, **options) for n in sizes}
    except (ValueError, TypeError):
        return {}


def _size(sample: str) -> int | None:
    match = re.match(r"n(\d+)-", sample)
    return int(match[1]) if match else None


def _episode(run: Run, sample: "EvalSample") -> Episode | None:
    """The episode of a sample, or None where the sample is no dinner."""
    data, options = sample.store.get(RECORD), sample.metadata.get("rules")
    record, reason = None, ""
    try:
        record = None if data is None else Record.from_dict(data)
    except (ValueError, TypeError) as error:
        reason = str(error)
    rules = record.rules if record else _stated(options)
    if rules is None:
        return None
    if sample.error is not None or sample.invalidation is not None or record is None:
        status = Status.ERRORED
        reason = reason or (sample.error.message if sample.error else "invalidated" if record else "there is no record")
    else:
        status = Status.SCORED if record.complete else Status.CUT
        reason = "" if record.complete else record.ended.removeprefix("cut: ")
    logged = {
        name: float(score.value)
        for name, score in (sample.scores or {}).items()
        if isinstance(score.value, (int, float)) and not isnan(score.value)
    }
    usage = _usage(sample, rules.n)
    episode = Episode(run, rules.n, rules, str(sample.id), sample.epoch, status, record, reason, usage, logged)
    try:
        if status is Status.SCORED:
            _ = episode.terms
    except ValueError as error:
        return replace(episode, status=Status.ERRORED, record=None, reason=str(error))
    return episode


def _stated(options: object) -> Rules | None:
    """The rules that a sample's metadata state, or None where they are no rules of ours."""
    try:
        return Rules(**options) if isinstance(options, dict) else None
    except (ValueError, TypeError):
        return None


def _usage(sample: "EvalSample", n: int) -> Usage:
    used = list(sample.model_usage.values())
    costs = [usage.total_cost for usage in used]
    known = [cost for cost in costs if cost is not None and isfinite(cost)]
    seats = [sample.role_usage.get(f"seat_{seat}") for seat in range(n)]
    return Usage(
        tokens=sum(usage.total_tokens for usage in used),
        cost=sum(known) if used and len(known) == len(used) else None,
        seats=tuple(usage.total_tokens if usage else 0 for usage in seats),
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
            "name a shaping to score every run alike."
        )
