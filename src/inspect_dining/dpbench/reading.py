"""Reading a philosopher's text: the action that it names, and its message to the neighbours.

`read` is the corrected reading, without guessing. The labels THINKING, MESSAGE and ACTION open a section: at
the start of a line in any case, with or without Markdown around them; within a line in capitals. Text that the model
marks as reasoning (`<think>`) is dropped first.

1. The last ACTION section decides. Its first words must be one of the four actions, in any case, joined by an
   underscore, a hyphen, a space or nothing, and no other action may be named in its line.
2. A reply without such a label acts only if it consists of nothing but an action.
3. Everything else is a lost turn, which does nothing, like `wait`, but is counted by kind.

`read_exact` is dpbench 0.2.1's: the first match of ACTION: anywhere, else the whole text, is searched for the names as
parts of words, left before right before release, and everything else is `wait`.
"""

import re
from dataclasses import dataclass

from inspect_dining.dpbench.table import Action
from inspect_dining.philosophers.reasoning import spoken
from inspect_dining.table.moves import LOST, Kind

MESSAGE_LENGTH = 200
"""The maximum characters of a message."""
REPLY_LENGTH = 10_000
"""The maximum characters of a reply that dpbench 0.2.1 reads."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reading of one reply.

    Attributes:
        kind: `action`, or the kind of lost turn: `no_call` (no action is named), `unknown` (the label names none of
            the four), `malformed` (it names several), `empty`, `truncated`, `refused`.
        action: The action; `wait` for a lost turn.
        message: The message to both neighbours, or None.
    """

    kind: Kind
    action: Action
    message: str | None = None

    @property
    def code(self) -> str:
        """The one character that a record keeps of the reading (see `CODES`)."""
        return _CODE_OF[self.kind, self.action]


CODES: dict[str, tuple[Kind, Action]] = {
    "l": (Kind.ACTION, Action.GRAB_LEFT),
    "r": (Kind.ACTION, Action.GRAB_RIGHT),
    "d": (Kind.ACTION, Action.RELEASE),
    "w": (Kind.ACTION, Action.WAIT),
    **{str(place): (kind, Action.WAIT) for place, kind in enumerate(LOST)},
}
"""Reading by code: l and r grab, d releases (lets down), w waits; 0-5 are the kinds of lost turns."""
_CODE_OF = {reading: code for code, reading in CODES.items()}

_LABEL = re.compile(
    r"(?:^[^\S\n]*[*_#>`-]*[^\S\n]*(?P<line>(?i:thinking|message|action))|(?<=\s)(?P<word>THINKING|MESSAGE|ACTION))"
    r"[*_`]*[^\S\n]*:[*_`]*",
    re.MULTILINE,
)
_NAME = re.compile(r"\b(?:grab[ _-]?(?P<side>left|right)|(?P<word>release|wait))\b", re.I)
_AROUND = " \t\r\n*_`[]()<>\"'.,;:!"
_SILENCE = ("none", "n/a", "-", "")


def read(text: str, *, cut: bool = False, refused: bool = False) -> Reply:
    """Reads a reply in the corrected game.

    Args:
        text: The reply's text; without reasoning that the provider separated.
        cut: Whether the token limit cut it.
        refused: Whether the provider refused to answer.
    """
    if refused:
        return Reply(Kind.REFUSED, Action.WAIT)
    said = spoken(text)
    if not said:
        return Reply(Kind.TRUNCATED if cut else Kind.EMPTY, Action.WAIT)
    sections = _sections(said)
    messages = [body for label, body in sections if label == "message"]
    message = message_of(messages[-1]) if messages else None
    actions = [body for label, body in sections if label == "action"]
    if actions:
        kind, action = _named(actions[-1].strip().split("\n", 1)[0])
    else:
        kind, action = _named(said) if _NAME.fullmatch(said.strip(_AROUND)) else (Kind.NO_CALL, Action.WAIT)
    if cut and kind is not Kind.ACTION:
        kind = Kind.TRUNCATED
    return Reply(kind, action, message)


def message_of(body: str) -> str | None:
    """The message in a section: one line of at most 200 characters; None if it states that there is none."""
    text = " ".join(body.split()).strip("*_` ").removeprefix('"').removesuffix('"')
    return None if text.casefold().strip(" .[]()") in _SILENCE else text[:MESSAGE_LENGTH].strip() or None


def read_discussion(text: str, *, refused: bool = False) -> str | None:
    """The message of a reply in a round of messages only: its last MESSAGE section, or None."""
    bodies = [] if refused else [body for label, body in _sections(spoken(text)) if label == "message"]
    return message_of(bodies[-1]) if bodies else None


def _sections(text: str) -> list[tuple[str, str]]:
    """The labelled sections of a text, each up to the next label."""
    marks = list(_LABEL.finditer(text))
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    return [
        ((mark["line"] or mark["word"]).lower(), text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)
    ]


def _named(line: str) -> tuple[Kind, Action]:
    """The action that a line begins with, if it names no other."""
    bare = line.strip(_AROUND)
    first = _NAME.match(bare)
    names = {_action(match) for match in _NAME.finditer(bare)}
    if len(names) > 1:
        return Kind.MALFORMED, Action.WAIT
    if not bare:
        return Kind.NO_CALL, Action.WAIT
    return (Kind.ACTION, _action(first)) if first else (Kind.UNKNOWN, Action.WAIT)


def _action(match: re.Match[str]) -> Action:
    return Action(f"grab_{match['side'].lower()}" if match["side"] else match["word"].lower())


_EXACT_ACTION = re.compile(r"ACTION:\s*(?P<word>\w+)")
_EXACT_MESSAGE = re.compile(r"message:\s*(?P<said>[^\n]+?)(?:(?=\n|action:)|$)", re.IGNORECASE)


def read_exact(text: str) -> Action:
    """The action that dpbench 0.2.1 reads in a reply."""
    upper = text[:REPLY_LENGTH].upper()
    labelled = _EXACT_ACTION.search(upper)
    where = labelled["word"] if labelled else upper
    for action in (Action.GRAB_LEFT, Action.GRAB_RIGHT, Action.RELEASE):
        name = action.value.upper()
        if name in where or (name.startswith("GRAB") and name.replace("_", "") in where):
            return action
    return Action.WAIT


def read_exact_message(text: str) -> str | None:
    """The message that dpbench 0.2.1 reads in a reply, or None."""
    labelled = _EXACT_MESSAGE.search(text[:REPLY_LENGTH])
    if labelled is None or labelled["said"].strip().lower() in _SILENCE:
        return None
    return labelled["said"].strip()[:MESSAGE_LENGTH].strip()
