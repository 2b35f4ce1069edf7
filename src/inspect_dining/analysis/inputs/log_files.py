"""Finding and reading Inspect's log files, with every failure reported as a sentence."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote, urlparse
from zipfile import ZipFile

from inspect_ai.log import (
    EvalLog,
    EvalSample,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample,
)
from pydantic_core import SchemaValidator, core_schema

from inspect_dining.border import count, plain, read_json
from inspect_dining.errors import BadInput
from inspect_dining.table.record import RECORD

MOST_HEADER = 64 * 2**20
"""The maximum unpacked bytes of a log's header."""
MOST_SAMPLE = 512 * 2**20
"""The maximum unpacked bytes of one sample, which is streamed without its conversations."""
MOST_JSON = 256 * 2**20
"""The maximum bytes of a JSON log, which is read as a whole."""
MOST_EPOCHS = 1_000
"""The maximum epochs of a log."""
_WHOLE = 32 * 2**20
"""The largest sample in bytes that is parsed whole."""
_TRIED = 3
"""The number of samples of a log that are searched for what was sent."""
_SAMPLE = re.compile(r"samples/(.*)_epoch_(\d{1,6})\.json", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Unread:
    """A sample that is in a log but cannot be read.

    Attributes:
        id: Its id.
        epoch: Its epoch.
        why: The reason.
    """

    id: str
    epoch: int
    why: str


def find(logs: Sequence[str | Path | EvalLog], notes: list[str]) -> Iterator[str | EvalLog]:
    """The log files under some paths, each once, and logs in memory unchanged.

    Raises:
        BadInput: A path does not exist.
    """
    seen: set[str] = set()
    for given in logs:
        if isinstance(given, EvalLog):
            yield given
            continue
        path = Path(str(given).removeprefix("file://"))
        remote = "://" in str(given) and not str(given).startswith("file://")
        if not remote and not path.exists():
            raise BadInput(f"{given} does not exist; name a log file or a folder of logs.")
        if path.is_dir() or (remote and not str(given).endswith((".eval", ".json"))):
            names = [info.name for info in list_eval_logs(str(given) if remote else str(path), descending=False)]
            if not names:
                notes.append(plain(f"The folder {given} holds no logs.", None))
        else:
            names = [str(given) if remote else path.resolve().as_uri()]
        for name in names:
            if name not in seen:
                seen.add(name)
                yield name


def head(source: str | EvalLog, notes: list[str]) -> EvalLog | None:
    """The header of a log, or None and a note if the file cannot be read as a log."""
    if isinstance(source, EvalLog):
        return source
    try:
        _check_file(source)
        return read_eval_log(source, header_only=True)
    except Exception as error:  # noqa: BLE001 a broken file fails in zip, zstd, ijson or pydantic, in various ways
        name = plain(source.rsplit("/", 1)[-1])
        notes.append(f"{name} is cut off, or not a log of Inspect ({_why(error)}); it was left out.")
        return None


def samples(log: EvalLog, unread: set[str], notes: list[str], only: str | None = None) -> Iterator[EvalSample | Unread]:
    """The samples of a log one by one, without unneeded fields.

    A planned sample that is missing is skipped; an unreadable one is yielded with what is known of it. A
    sample without a record in its store is yielded with its events, which may hold it.

    Args:
        log: A log, or the header of one.
        unread: The fields to leave out.
        notes: Collects a note on what could not be read.
        only: The id of a single sample to read, in all its epochs.
    """
    if log.samples is not None:
        yield from (sample for sample in log.samples if only in (None, plain(sample.id), str(sample.id)))
        return
    broken: list[str] = []
    if log.location.endswith(".json"):
        for sample in _of_json(log, broken):
            name = sample.id
            if only in (None, plain(name), str(name)):
                yield sample
    elif log.location:
        for name, epoch in _held(log):
            if only not in (None, plain(name), str(name)):
                continue
            try:
                sample = _sample(log.location, name, epoch, unread)
                if RECORD not in sample.store:
                    sample = _sample(log.location, name, epoch, unread - {"events", "attachments"})
                yield sample
            except IndexError:
                continue
            except Exception as error:  # noqa: BLE001 see head
                broken.append(_why(error))
                yield Unread(str(name), epoch, broken[-1])
    if broken:
        where = plain(log.location.rsplit("/", 1)[-1])
        notes.append(f"{where} is damaged: {len(broken)} samples could not be read ({broken[0]}).")


def one_with_events(log: EvalLog, unread: set[str]) -> EvalSample | None:
    """The smallest sample of a log whose events show what was sent to its models; None if there is none."""
    if log.samples is not None or not log.location.endswith(".eval"):
        held = log.samples if log.samples is not None else _of_json(log, [])
        return next((one for one in held if isinstance(one, EvalSample) and _asks(one)), None)
    for name, epoch in _held(log, smallest=True)[:_TRIED]:
        with suppress(Exception):  # `samples` reports what cannot be read
            also = unread - {"events", "events_data", "attachments"}
            sample = _sample(log.location, name, epoch, also)
            if _asks(sample):
                return sample
    return None


def _sample(location: str, name: str | int, epoch: int, unread: set[str]) -> EvalSample:
    """One sample of a log in Inspect's own format, without the fields that are not wanted.

    Inspect parses a sample in steps of Python, and starts an event loop for each. Where no events are wanted, a sample
    of usual size is parsed here, at some fifth of the cost. Whatever fails is read once more by Inspect, which says
    what is wrong.

    Raises:
        Exception: The sample cannot be read; see `head`.
    """
    path = _local(location)
    if path is not None and "events" in unread:
        with suppress(Exception), ZipFile(path) as file:
            member = file.getinfo(f"samples/{name}_epoch_{epoch}.json")
            if member.file_size <= _WHOLE:
                data = _parser(frozenset(unread)).validate_json(file.read(member))
                return EvalSample.model_validate({key: value for key, value in data.items() if key not in unread})
    return read_eval_log_sample(location, name, epoch, exclude_fields=unread)


@cache
def _parser(unread: frozenset[str]) -> SchemaValidator:
    """Parses an object of JSON, and makes no Python objects of the fields that are not wanted: any value will do."""
    passed = core_schema.with_default_schema(core_schema.none_schema(), default=None, on_error="default")
    fields = {name: core_schema.typed_dict_field(passed, required=False) for name in unread}
    return SchemaValidator(core_schema.typed_dict_schema(fields, extra_behavior="allow"))


def _asks(sample: EvalSample) -> bool:
    return any(event.event == "model" for event in sample.events)


def _of_json(log: EvalLog, broken: list[str]) -> Iterator[EvalSample | Unread]:
    """The samples of a log in JSON: all at once, or one by one if Inspect cannot read them all."""
    try:
        yield from read_eval_log(log.location).samples or []
        return
    except Exception as error:  # noqa: BLE001 see head
        why = _why(error)
    path, raw = _local(log.location), None
    with suppress(ValueError):
        raw = None if path is None else read_json(path, MOST_JSON, nesting=200)
    samples = raw.get("samples") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or not isinstance(samples, list):
        broken.append(why)
        return
    for one in samples:
        try:
            alone = BytesIO(json.dumps({**raw, "samples": [one]}).encode())
            yield from read_eval_log(alone, format="json").samples or []
        except Exception as error:  # noqa: BLE001 see head
            broken.append(_why(error))
            about = one if isinstance(one, dict) else {}
            yield Unread(str(about.get("id")), max(1, count(about.get("epoch"))), broken[-1])


def _held(log: EvalLog, smallest: bool = False) -> list[tuple[str | int, int]]:
    """The id and epoch of every sample in a log: as planned, in order; for a local file only those present.

    Args:
        log: The header of the log.
        smallest: Whether the smallest samples come first.
    """
    planned = [
        (name, epoch)
        for name in log.eval.dataset.sample_ids or []
        for epoch in range(1, min(log.eval.config.epochs or 1, MOST_EPOCHS) + 1)
    ]
    path = _local(log.location)
    if path is None:
        return planned
    with ZipFile(path) as file:
        within = {
            (match[1], int(match[2])): one.file_size
            for one in file.infolist()
            if (match := _SAMPLE.fullmatch(one.filename))
        }
    named = {(str(name), epoch): (name, epoch) for name, epoch in planned}
    order = [*(key for key in named if key in within), *(key for key in within if key not in named)]
    if smallest:
        order.sort(key=lambda key: within[key])
    return [named.get(key, key) for key in order]


def _check_file(source: str) -> None:
    """Refuses a file whose parts are too large to be read.

    Raises:
        ValueError: A part is too large.
    """
    path = _local(source)
    if path is None:
        return
    if path.suffix == ".json":
        if path.stat().st_size > MOST_JSON:
            raise ValueError(f"it has {path.stat().st_size:,} bytes of JSON, and at most {MOST_JSON:,} are read")
        return
    with ZipFile(path) as file:
        for one in file.infolist():
            most = MOST_SAMPLE if one.filename.startswith("samples/") else MOST_HEADER
            if one.file_size > most:
                raise ValueError(f"{plain(one.filename)} unpacks to {one.file_size:,} bytes; at most {most:,} are read")


def _local(source: str) -> Path | None:
    """The path of a file on this machine, or None for one elsewhere."""
    if "://" not in source:
        return Path(source)
    return Path(unquote(urlparse(source).path)) if source.startswith("file://") else None


def _why(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return plain((text[0] if text else type(error).__name__).rstrip("."))
