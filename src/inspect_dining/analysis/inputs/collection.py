"""From Inspect's logs to episodes: records with what identifies them.

    for episode in records("logs"):
        print(episode.run.player.model, episode.n, episode.sample, episode.epoch, episode.status)

Scores come from the record alone. What a log says of its scores is only compared with that, and every difference is a
note, as is everything that was left out.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_dining.analysis.inputs.episodes import Episode, Player, Run, Status, Usage
from inspect_dining.analysis.inputs.stored import checked, stored
from inspect_dining.border import MOST_SEATS, check_size, count, finite, plain, public
from inspect_dining.errors import BadInput
from inspect_dining.table.record import RECORD, replay
from inspect_dining.table.rules import NAMES, Rules

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

    from inspect_dining.analysis.inputs.log_files import Unread

__all__ = ["RECORD", "Collection", "games", "read", "records"]

_UNREAD = {"events", "events_data", "messages", "attachments", "output", "timelines", "choices", "sandbox"}
"""The fields of a sample that are not needed here, and make up nearly all of it."""
_GAMES = {"n", "episodes", "seed", "players"}
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
_MOST_EPOCHS = 1_000
DEFAULT_PROMPT = "default"
_STRATEGY = re.compile(r"[a-z_]{1,40}")
"""How prompt strategies are named; files have a dot or other letters."""
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}|\b[0-9a-f]{9,}\b")


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
    from inspect_dining.analysis.inputs.log_files import Unread, find, head, samples

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
        strangers = repeated = 0
        seen: set[tuple[str, int]] = set()
        for sample in samples(log, _UNREAD, notes):
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
        run = _planned(run, log, found)
        found = [replace(episode, run=run) for episode in found]
        if not found and not _ours(log.eval.task):
            notes.append(
                f"{_short(place)} is a log of the task {plain(log.eval.task)} and holds no dinner; it was left out."
            )
            continue
        if repeated:
            notes.append(f"{repeated} samples of {_short(place)} come twice; the first counts.")
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
        run = _run(header, header.location)
        for one in samples(header, _UNREAD, notes, only=sample):
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


def _run(log: "EvalLog", place: str) -> Run:
    about, arguments = log.eval, log.eval.task_args
    epochs = min(about.config.epochs or 1, _MOST_EPOCHS)
    sizes: dict[int, int] = {}
    for name in about.dataset.sample_ids or []:
        size = _size(str(name))
        if size is not None:
            sizes[size] = sizes.get(size, 0) + epochs
    metadata = about.metadata or {}
    hashes = metadata.get("prompt", "unknown")
    prompt = plain(str(arguments.get("prompt") or DEFAULT_PROMPT).rsplit("/", 1)[-1])
    told = {
        k: v
        for k, v in sorted(arguments.items())
        if k not in _GAMES | _REWARD | _RULES | {"philosopher", "prompt"} and (k, v) != ("failures", "error")
    }
    setup = {
        **{plain(k): public(k, v) for k, v in told.items()},
        "prompt": _prompt(prompt, hashes),
        "version": plain(about.task_version),
    }
    if about.solver is not None:
        setup["solver"] = plain(f"{about.solver} {public('', about.solver_args_passed or '')}".strip())
    settings = {plain(k): public(k, v) for k, v in about.model_args.items() if k not in _CONNECTION}
    config = log.plan.config.merge(about.model_generate_config)
    settings |= {
        k: public(k, v) for k, v in config if k in _SAMPLING and v is not None and (k, v) != ("max_tokens", 2048)
    }
    if arguments.get("philosopher"):
        settings["philosopher"] = plain(arguments["philosopher"])
    return Run(
        log=plain(place, None),
        player=_player(log, settings),
        models={**dict(_roles(log)), "": _with_settings(plain(about.model), settings)},
        setup=tuple(setup.items()),
        rewarding=_rewarding(log),
        sizes=sizes,
        rules=_rules(log, sizes),
        finished=log.status != "started",
        task_id=about.task_id,
        created=plain(about.created),
        prompt=prompt,
    )


def _prompt(name: str, hashes: object) -> str:
    """A prompt as runs share it: its hash, with the name of its strategy before it.

    A file's name is left out, since another file may hold the same prompt.
    """
    told = plain(", ".join(sorted(set(map(str, hashes)))) if isinstance(hashes, list) else hashes)
    return f"{name} {told}" if name != DEFAULT_PROMPT and _STRATEGY.fullmatch(name) else told


def _planned(run: Run, log: "EvalLog", found: Sequence[Episode]) -> Run:
    """A run with the games in its plan that its log does not name: all of them, where the ids say nothing of size.

    So it holds for every log and size that planned = scored + cut + errored + not played (see `episodes.Account`).
    """
    epochs = min(log.eval.config.epochs or 1, _MOST_EPOCHS)
    named = {plain(name) for name in log.eval.dataset.sample_ids or [] if _size(str(name)) is not None}
    more = Counter(e.n for e in found if e.sample not in named or e.epoch > epochs)
    sizes = {n: run.sizes.get(n, 0) + more[n] for n in sorted({*run.sizes, *more})}
    return replace(run, sizes=sizes)


def _player(log: "EvalLog", settings: Mapping[str, str]) -> Player:
    """What a run evaluates; a mixed table is one player of its own, named after all who share it."""
    roles, names = dict(_roles(log)), log.eval.task_args.get("players")
    if not names:
        return Player(plain(log.eval.model), tuple(roles.items()), tuple(settings.items()))
    shared = names.split(",") if isinstance(names, str) else map(str, names)
    usual = _with_settings(plain(log.eval.model), settings)
    return Player(" & ".join(sorted({roles.get(name.strip(), usual) for name in shared})))


def _with_settings(model: str, settings: Mapping[str, str]) -> str:
    told = ", ".join(f"{name}={value}" for name, value in settings.items())
    return f"{model} ({told})" if told else model


def _rewarding(log: "EvalLog") -> dict[str, object]:
    """The arguments of the scorer `reward`, whoever named it, else those of the task."""
    given = [one.options or {} for one in log.eval.scorers or [] if one.name.rsplit("/", 1)[-1] == "reward"]
    named = given[-1] if given else log.eval.task_args
    return {name: value for name, value in named.items() if name in _REWARD}


def _roles(log: "EvalLog") -> Iterator[tuple[str, str]]:
    for role, bound in sorted((log.eval.model_roles or {}).items()):
        for config in bound if isinstance(bound, list) else [bound]:
            set_values = {k: v for k, v in config.config if k in _SAMPLING and v is not None}
            told = {**config.args, **set_values}
            notes = [f"{plain(k)}={public(k, v)}" for k, v in told.items() if k not in _CONNECTION]
            yield plain(role), plain(config.model) + (f" ({', '.join(notes)})" if notes else "")


def _rules(log: "EvalLog", sizes: Iterable[int]) -> dict[int, Rules]:
    """The rules of each size, for games that left no record; none where the task's arguments are not ours."""
    options = {name: value for name, value in log.eval.task_args.items() if name in _RULES and value is not None}
    if isinstance(options.get("faults"), list):
        options["faults"] = ",".join(map(str, options["faults"]))
    try:
        check_size(None, options.get("rounds"))
        return {n: Rules(n, **options) for n in sizes}
    except (ValueError, TypeError):
        return {}


def _size(sample: str) -> int | None:
    match = re.match(r"n(\d{1,9})-", sample)
    return int(match[1]) if match and 2 <= int(match[1]) <= MOST_SEATS else None


def _episode(run: Run, sample: "EvalSample") -> Episode | None:
    """The episode of a sample, or None where the sample is no dinner."""
    data = stored(sample)
    record, reason = None, ""
    try:
        record = None if data is None else checked(data)
    except ValueError as error:
        reason = plain(error)
    name = str(sample.id)
    rules = record.rules if record else _stated(sample.metadata.get("rules")) or run.rules.get(_size(name) or 0)
    if rules is None:
        return None
    if record is not None and _size(name) not in (None, rules.n):
        record, reason = None, f"its record is of a table of {rules.n}, and its id is of one of {_size(name)}"
        rules = replace(rules, n=_size(name) or rules.n)
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
        # a seat that crashed unplanned joins the record's rules; games are equal by what was planned
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
    """The episode of a sample that is there and cannot be read, or None where its rules are not known."""
    rules = run.rules.get(_size(sample.id) or 0)
    if rules is None:
        return None
    return Episode(
        run, rules.n, rules, plain(sample.id), sample.epoch, Status.ERRORED, None, f"cannot be read ({sample.why})"
    )


def _clean(reason: str) -> str:
    """A reason without addresses of memory, so that equal reasons are counted together, and in one line."""
    lines = reason.strip().splitlines()
    return plain(_ADDRESS.sub("...", lines[0]) if lines else "")


def _stated(options: object) -> Rules | None:
    """The rules that a sample's metadata state, or None where they are no rules of ours."""
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
            "name a shaping to score every run alike."
        )
