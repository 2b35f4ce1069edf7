"""Actions, readings of replies, and outcomes of turns.

A model's reply becomes a `Reading`: an action, or one of several kinds of lost turn. Each of the 24 readings has a
one-letter code, and a record keeps only this code of a turn. The table answers a reading with an `Outcome` and, if
nothing happened, the reason that the seat is given.
"""

from dataclasses import dataclass, field
from enum import StrEnum


class Action(StrEnum):
    """One of the six things that a seat can do in a turn; the values are the names of the model's tools."""

    PICK_UP_LEFT = "pick_up_left"
    PICK_UP_RIGHT = "pick_up_right"
    PUT_DOWN_LEFT = "put_down_left"
    PUT_DOWN_RIGHT = "put_down_right"
    EAT = "eat"
    THINK = "think"


class Kind(StrEnum):
    """The kinds of reading of a model's reply."""

    ACTION = "action"
    """Exactly one clear call."""
    SEVERAL = "several"
    """More than one call; the first one counts."""
    RESCUED = "rescued"
    """No native call, but one unambiguous call in the text, taken only if the rules of reading allow it."""
    NO_CALL = "no_call"
    """Text without a call."""
    MALFORMED = "malformed"
    """A call whose name or arguments cannot be read."""
    UNKNOWN = "unknown"
    """A well-formed call to a tool that does not exist."""
    EMPTY = "empty"
    """A reply with neither text nor call (reasoning alone is not a reply)."""
    TRUNCATED = "truncated"
    """The token limit cut the reply before a call was complete."""
    REFUSED = "refused"
    """The provider refused to answer (content filter)."""


ACTING = (Kind.ACTION, Kind.SEVERAL, Kind.RESCUED)
"""The kinds of reading that act."""
LOST = (Kind.NO_CALL, Kind.MALFORMED, Kind.UNKNOWN, Kind.EMPTY, Kind.TRUNCATED, Kind.REFUSED)
"""The kinds of reading that do not act: lost turns, which are never `think`."""


_LETTERS = {Kind.ACTION: "abcdef", Kind.SEVERAL: "ABCDEF", Kind.RESCUED: "uvwxyz"}
_ACTIONS = tuple(Action)


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading of one reply.

    Attributes:
        kind: The kind of reading.
        action: The action taken, or None exactly when the kind is a lost turn.
        code: The one character that a record keeps of this reading (see `READINGS`).
    """

    kind: Kind
    action: Action | None = None
    code: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (self.kind in ACTING) != (self.action is not None):
            raise ValueError(f"A reading of kind {self.kind} cannot go with the action {self.action}.")
        code = str(LOST.index(self.kind)) if self.action is None else _LETTERS[self.kind][_ACTIONS.index(self.action)]
        object.__setattr__(self, "code", code)

    def __hash__(self) -> int:
        # a game looks readings up twice per turn, and a string caches its hash
        return hash(self.code)

    @property
    def acts(self) -> bool:
        """Whether the turn acts; a turn that does not is lost."""
        return self.action is not None


READINGS: dict[str, Reading] = {
    reading.code: reading
    for reading in (*(Reading(kind, action) for kind in ACTING for action in Action), *map(Reading, LOST))
}
"""Reading by code: a-f a single clear call, A-F the first of several, u-z rescued from text (each in the order of
`Action`, so e, E and y eat), 0-5 the lost turns in the order of `LOST`."""
CODES: dict[Reading, str] = {reading: code for code, reading in READINGS.items()}
"""Code by reading."""
ACTS: dict[Action, Reading] = {r.action: r for r in READINGS.values() if r.kind is Kind.ACTION and r.action}
"""The plain reading of each action."""
NO_CALL = READINGS["0"]
"""The reading of a silent seat, which is what None from a scripted player means."""


class Outcome(StrEnum):
    """The outcome of a turn."""

    DONE = "done"
    """The action took effect."""
    LOST_TIE = "lost_tie"
    """Both neighbours reached for a free fork and the other neighbour got it."""
    NO_EFFECT = "no_effect"
    """The rules did not allow the action; nothing changed."""
    LOST = "lost"
    """There was no action."""


class Why(StrEnum):
    """Why an action had no effect."""

    TAKEN = "taken"
    """The fork to pick up is in the neighbour's hand."""
    IN_HAND = "in_hand"
    """The fork to pick up is already in the seat's own hand."""
    NOT_IN_HAND = "not_in_hand"
    """The fork to put down is not in the seat's hand."""
    NEEDS_BOTH = "needs_both"
    """Eating needs both forks in hand."""
    SPENT = "spent"
    """Both forks must be put down before the next meal."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One seat's turn: the reading of its reply and the outcome.

    Attributes:
        reading: The reading of the reply.
        outcome: The outcome.
        why: The reason, exactly when the outcome is `no_effect`.
    """

    reading: Reading
    outcome: Outcome
    why: Why | None = None


LOST_TURNS: dict[Reading, Turn] = {r: Turn(r, Outcome.LOST) for r in CODES if not r.acts}
"""The turn of each lost reading."""
DONE_TURNS: dict[Reading, Turn] = {r: Turn(r, Outcome.DONE) for r in CODES if r.acts}
"""The turn of each reading whose action was done."""
TIE_TURNS: dict[Reading, Turn] = {r: Turn(r, Outcome.LOST_TIE) for r in CODES if r.acts}
"""The turn of each reading that lost a tie."""
VAIN_TURNS: dict[Why, dict[Reading, Turn]] = {
    why: {r: Turn(r, Outcome.NO_EFFECT, why) for r in CODES if r.acts} for why in Why
}
"""The turn of each reading without effect, by reason."""
