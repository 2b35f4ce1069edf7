"""Episodes of logs: each with its record, its identity and its scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from inspect_dining.border import finite, plain
from inspect_dining.errors import BadInput
from inspect_dining.scorers.catalogue import SCORES, compute_scores
from inspect_dining.scorers.shaping import Shaping, is_builtin
from inspect_dining.scorers.shaping import shaping as shaping_named
from inspect_dining.scorers.terms import Terms, terms
from inspect_dining.table.record import Record
from inspect_dining.table.rules import NAMES, Rules

Setup = tuple[tuple[str, str], ...]
"""The properties that two games must share to be compared, as pairs of name and value."""

_TOLERANCE = 6e-5
"""Scores are logged with at least four decimals."""


class Status(StrEnum):
    """The fate of a planned episode."""

    SCORED = "scored"
    """The game ended, by deadlock or at the horizon."""
    CUT = "cut"
    """A limit, an overflow or a cancellation stopped the game; it is counted but never scored."""
    ERRORED = "errored"
    """The provider or the program failed; it is counted but never scored."""


@dataclass(frozen=True, slots=True)
class Account:
    """The fate of the planned games of a run, or of one of its table sizes.

    For every log, planned = scored + cut + errored + not played.

    Attributes:
        planned: The number of planned games.
        scored: The number that ended by their rules.
        cut: The number stopped by a limit or a cancellation.
        errored: The number that failed or whose records cannot be trusted.
    """

    planned: int
    scored: int
    cut: int
    errored: int

    def __post_init__(self) -> None:
        if min(self.scored, self.cut, self.errored, self.not_played) < 0:
            raise ValueError(f"These counts do not add up: {self}.")

    @property
    def not_played(self) -> int:
        """The number that left no trace: not played yet, or never."""
        return self.planned - self.scored - self.cut - self.errored

    @staticmethod
    def of(planned: int, statuses: Sequence[Status]) -> "Account":
        """The account of some games by their fate."""
        return Account(planned, *(statuses.count(status) for status in (Status.SCORED, Status.CUT, Status.ERRORED)))


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens and cost of an episode.

    Attributes:
        tokens: Tokens of all its model calls, input and output.
        cost: Their cost, in the currency of the price file, or None if it is not known.
        seats: The tokens of each seat.
    """

    tokens: int = 0
    cost: float | None = None
    seats: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Player:
    """The player under evaluation; the episodes of equal players may be pooled.

    Attributes:
        model: The model of every seat without its own model.
        roles: Seats with their own model, as pairs of role and model.
        settings: Model arguments and generation settings as sent, as pairs of name and value; also the hash of the
            weights, if known, and of the prompts of a custom philosopher.
    """

    model: str
    roles: tuple[tuple[str, str], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Run:
    """The properties that one log gives for all its episodes.

    Attributes:
        log: The location of the log.
        player: What was evaluated.
        setup: The properties that two runs must share to be compared (prompt, memory, version...), as pairs of name and
            value.
        rewarding: The arguments of its shaping, those of the log's scorer `reward`.
        sizes: For each table size, the number of planned episodes.
        rules: For each table size, its rules, as far as the task's arguments give them.
        finished: Whether the log is complete; a log still being written, or of a killed run, is not.
        task_id: Inspect's id of the task, which a retry keeps.
        created: When the run was started (ISO 8601).
        models: The model of each role with its own settings; the empty name is the run's model.
        prompt: The name of its prompt: a strategy, or a file.
        words: 8 hex digits that name system prompt and tools as they were sent; empty if that is not known.
    """

    log: str
    player: Player
    setup: Setup = ()
    rewarding: Mapping[str, object] = field(default_factory=dict)
    sizes: Mapping[int, int] = field(default_factory=dict)
    rules: Mapping[int, Rules] = field(default_factory=dict)
    finished: bool = True
    task_id: str = ""
    created: str = ""
    models: Mapping[str, str] = field(default_factory=lambda: {"": ""})
    prompt: str = "default"
    words: str = ""

    @cached_property
    def shaping(self) -> Shaping | None:
        """The shaping of its `reward`, or None if it cannot be created here.

        A log never decides what is imported: a custom function is only known if the user names it.
        """
        if not is_builtin(self.rewarding.get("shaping", "paper")):
            return None
        try:
            return named_shaping(**self.rewarding)
        except (ValueError, ArithmeticError):
            return None

    @property
    def reward_name(self) -> str:
        """The full name of its shaping."""
        return plain(self.shaping.name if self.shaping else self.rewarding.get("shaping"))

    def equal_games(self, rules: Rules) -> Setup:
        """The properties that two games of equal n must share to be compared: the rules, then those of their runs."""
        played = [(name, str(getattr(rules, name))) for name in ("rounds", *NAMES)]
        sent = [("sent", self.words)] if self.words else []
        return (*played, *self.setup, *sent, ("reward", self.reward_name))


@dataclass(frozen=True)
class Episode:
    """One planned game of a log that left a trace.

    Attributes:
        run: The run that it belongs to.
        n: The number of seats.
        rules: The rules of the game.
        sample: Inspect's sample id.
        epoch: Inspect's epoch.
        status: The fate of the game.
        record: Its record, or None if it failed before there was one.
        reason: Why it is not scored.
        usage: Tokens and cost.
        logged: The scores in the log, which are only compared with those of the record.
        seating: For each seat, the model that sits there, with its distinguishing settings.
    """

    run: Run
    n: int
    rules: Rules
    sample: str
    epoch: int
    status: Status
    record: Record | None
    reason: str = ""
    usage: Usage = Usage()
    logged: Mapping[str, float] = field(default_factory=dict)
    seating: tuple[str, ...] = ()

    @cached_property
    def terms(self) -> Terms:
        """The terms of a scored episode.

        Raises:
            ValueError: The episode is not scored.
        """
        if self.status is not Status.SCORED or self.record is None:
            raise ValueError(f"Episode {self.sample} of {self.run.log} is {self.status}: {self.reason}.")
        return terms(self.record)

    @cached_property
    def scores(self) -> dict[str, float]:
        """All scores of a scored episode by name (see `scorers.catalogue`), under the run's own shaping."""
        return compute_scores(self.terms, self.run.shaping)

    @property
    def disagrees(self) -> str | None:
        """The first score in which log and record differ, in words, or None if they agree."""
        ours = self.scores if self.status is Status.SCORED else {}
        for name, value in self.logged.items():
            own = ours.get(name)
            if name not in SCORES or (name == "reward" and self.run.shaping is None):
                continue
            if own is None or abs(own - value) > _TOLERANCE:
                return f"the log has {name} = {value:g}, its record gives {'no score' if own is None else f'{own:g}'}"
        return None


def named_shaping(
    shaping: object = "paper",
    weights: object = None,
    throughput: object = "seat_rounds",
    variance: object = "population",
) -> Shaping:
    """The shaping named by the arguments of a task, a command line or a log.

    Raises:
        BadInput: An argument is not accepted.
    """
    items = weights.split(",") if isinstance(weights, str) else weights
    if items is not None and not isinstance(items, Sequence):
        raise BadInput(f"weights={weights!r} is not accepted: give four numbers such as 1,0.5,0.3,0.1.")
    try:
        four = None if items is None else [float(item) for item in items]
        if four is not None and not all(finite(number) is not None for number in four):
            raise ValueError(f"weights={weights!r} is not accepted: give four finite numbers of moderate size.")
        if throughput not in ("seat_rounds", "optimum") or variance not in ("population", "sample"):
            raise ValueError(
                f"throughput={throughput!r} and variance={variance!r}: accepted are seat_rounds or optimum, and "
                "population or sample."
            )
        return shaping_named(str(shaping), weights=four, throughput=throughput, variance=variance)
    except (ValueError, TypeError) as error:
        raise BadInput(str(error)) from None
