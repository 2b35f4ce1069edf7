"""Finding and reading Inspect's log files, where every failure is a sentence."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from inspect_ai.log import (
    EvalLog,
    EvalSample,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample,
)

from inspect_dining.errors import BadInput


def find(logs: Sequence[str | Path | EvalLog], notes: list[str]) -> Iterator[str | EvalLog]:
    """The log files that some paths name, each once, and logs in memory as they are.

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
                notes.append(f"The folder {given} holds no logs.")
        else:
            names = [str(given) if remote else path.resolve().as_uri()]
        for name in names:
            if name not in seen:
                seen.add(name)
                yield name


def head(source: str | EvalLog, notes: list[str]) -> EvalLog | None:
    """The header of a log, or None with a note where the file cannot be read as one."""
    if isinstance(source, EvalLog):
        return source
    try:
        return read_eval_log(source, header_only=True)
    except Exception as error:  # noqa: BLE001 a broken file fails in zip, zstd, ijson or pydantic, each in its own way
        notes.append(f"{source.rsplit('/', 1)[-1]} is cut off, or no log of Inspect ({_why(error)}); it was left out.")
        return None


def samples(log: EvalLog, unread: set[str], notes: list[str], only: str | None = None) -> Iterator[EvalSample]:
    """The samples of a log one by one, without the fields that are not wanted.

    A sample that was planned and is not there is passed over; one that cannot be read is too, with a note.

    Args:
        log: A log, or the header of one.
        unread: The fields that are not wanted.
        notes: Takes the note.
        only: The id of the one sample that is wanted, in all its epochs.
    """
    if log.samples is not None:
        yield from (sample for sample in log.samples if only in (None, str(sample.id)))
        return
    broken: list[str] = []
    if log.location.endswith(".json"):
        try:
            whole = read_eval_log(log.location).samples or []
        except Exception as error:  # noqa: BLE001 see head
            whole, broken = [], [_why(error)]
        yield from (sample for sample in whole if only in (None, str(sample.id)))
    elif log.location:
        for name in log.eval.dataset.sample_ids or []:
            for epoch in range(1, (log.eval.config.epochs or 1) + 1) if only in (None, str(name)) else ():
                try:
                    yield read_eval_log_sample(log.location, name, epoch, exclude_fields=unread)
                except IndexError:
                    continue
                except Exception as error:  # noqa: BLE001 see head
                    broken.append(_why(error))
    if broken:
        where = log.location.rsplit("/", 1)[-1]
        notes.append(f"{where} is damaged: {len(broken)} samples could not be read ({broken[0]}).")


def _why(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return (text[0] if text else type(error).__name__).rstrip(".")[:200]
