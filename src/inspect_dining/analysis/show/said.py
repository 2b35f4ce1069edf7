"""The text of each seat's replies, from the model calls of a log."""

from collections.abc import Iterable, Mapping

from inspect_ai.event import Event, ModelEvent
from inspect_ai.log import EvalLog, read_eval_log_sample
from inspect_ai.model import ContentReasoning, ModelOutput

Said = Mapping[tuple[int, int], str]
"""The words of a turn by round and seat; if a philosopher called the model more than once, the last reply counts."""


def said_in(log: str | EvalLog, sample: str, epoch: int) -> Said:
    """The words of one game.

    Args:
        log: A log file, or a log in memory.
        sample: The sample's id.
        epoch: The epoch.

    Returns:
        The words; empty if the log keeps no events or cannot be read again.
    """
    try:
        if isinstance(log, EvalLog):
            found = next(s for s in log.samples or [] if str(s.id) == sample and s.epoch == epoch)
        else:
            found = read_eval_log_sample(log, sample, epoch, resolve_attachments=True)
    except (StopIteration, IndexError, KeyError, OSError, ValueError):
        return {}
    return turns_in(found.events)


def turns_in(events: Iterable[Event]) -> dict[tuple[int, int], str]:
    """The words by round and seat, from the events of a sample."""
    words = {}
    for event in events:
        if not isinstance(event, ModelEvent):
            continue
        about = next((m.metadata for m in reversed(event.input) if m.metadata and "seat" in m.metadata), None)
        if about is not None and isinstance(about.get("round"), int) and isinstance(about.get("seat"), int):
            words[about["round"], about["seat"]] = _text(event.output)
    return words


def _text(output: ModelOutput) -> str:
    """The text of a reply on one line, or its reasoning if there is no text, without control characters."""
    if not output.choices:
        return ""
    text = output.completion
    if not text.strip() and not isinstance(output.message.content, str):
        text = " ".join(part.reasoning for part in output.message.content if isinstance(part, ContentReasoning))
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
