"""Is a model ready for a run? Two short games show whether its replies are read, and what a turn costs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from inspect_dining.errors import BadInput
from inspect_dining.planning.plan import Tokens, plan
from inspect_dining.table.moves import LOST, READINGS, Kind

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.model import ModelCost

SEATS, GAMES, ROUNDS = 3, 2, 4
"""The seats, number and rounds of the games."""
ADVICE: Mapping[Kind, str] = {
    Kind.NO_CALL: "the model wrote text and called no tool. Your own server must be started with a tool-call "
    "parser (see `python -m inspect_dining models`); `-T rescue=true` reads one unambiguous call from text.",
    Kind.MALFORMED: "the arguments of a call could not be read. Look at the tool-call parser of the server, and the "
    "chat template.",
    Kind.UNKNOWN: "a tool was called that does not exist. Look at the chat template of the server: the tools may not "
    "reach the model.",
    Kind.EMPTY: "nothing came back. A parser that removes reasoning may have removed everything.",
    Kind.TRUNCATED: "the token limit cut the reply. Reasoning counts: give a larger `--max-tokens`, or less "
    "`--reasoning-effort`.",
    Kind.REFUSED: "the provider refused the prompt.",
}
"""The usual remedy for each kind of lost turn."""
MOST_LOST = 0.1
"""The largest share of lost turns of a model that counts as ready."""


@dataclass(frozen=True, slots=True)
class Check:
    """The results of two short games of a model.

    Attributes:
        model: The model.
        turns: The number of turns played.
        kinds: The number of turns by kind of reading.
        lost: The first lost reply, or empty.
        lost_kind: The kind of that lost turn.
        input_tokens: Mean input tokens of a turn.
        output_tokens: Mean output tokens of a turn.
        seconds: Mean seconds of a model call.
        error: Why the games did not end, or empty.
    """

    model: str
    turns: int
    kinds: Mapping[Kind, int]
    lost: str = ""
    lost_kind: Kind | None = None
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    seconds: float = 0.0
    error: str = ""

    @property
    def ready(self) -> bool:
        """Whether every game ended and few turns were lost."""
        lost = sum(self.kinds.get(kind, 0) for kind in LOST)
        return not self.error and self.turns > 0 and lost <= MOST_LOST * self.turns

    def lines(
        self, sizes: Sequence[int], episodes: int, rounds: int, prices: "dict[str, ModelCost] | None"
    ) -> Iterator[str]:
        """The findings in sentences, with the cost of a full run.

        Args:
            sizes: Table sizes of the full run.
            episodes: Games per size.
            rounds: The horizon.
            prices: Prices by model, if known.
        """
        yield f"{self.model}: {'ready' if self.ready else 'NOT ready'}"
        if self.error:
            yield f"  The games did not end: {self.error}"
        if not self.turns:
            return
        told = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
        yield f"  {self.turns} turns in {GAMES} games of {SEATS} seats were read as: {told}."
        if self.lost_kind is not None:
            yield f"  First lost reply ({self.lost_kind}): {self.lost or '(nothing)'}"
            yield f"  What usually helps: {ADVICE.get(self.lost_kind, 'look at the log.')}"
        yield (
            f"  A turn takes {self.input_tokens:,.0f} tokens in, {self.output_tokens:,.0f} out; a call takes "
            f"{self.seconds:.2f} s."
        )
        tokens = Tokens(round(self.input_tokens), round(self.output_tokens), 0.0, 0.0, "measured in these games")
        full = plan(sizes, episodes, rounds, 1, [self.model], tokens, prices)
        cost = full.costs.get(self.model)
        yield (
            f"  The full run (n = {', '.join(map(str, sizes))}, {episodes} games each, {rounds} rounds): at most "
            f"{full.calls:,} calls, {full.input_tokens or 0:,} tokens in, {full.output_tokens or 0:,} out, cost "
            + ("unknown (give --model-cost-config)." if cost is None else f"${cost:,.2f}.")
        )


def check_model(model: str, base_url: str | None = None) -> Check:
    """Plays the games.

    Args:
        model: The model name as Inspect accepts it.
        base_url: The address of its server, if it is not the provider's own.

    Raises:
        BadInput: Inspect cannot create this model: no key, no package, no such provider.
    """
    from inspect_ai import eval
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import get_model

    try:
        made = get_model(model, base_url=base_url)
    except (PrerequisiteError, ValueError, ImportError) as error:
        raise BadInput(f"{model} cannot be used: {_plain(error)}") from error
    with TemporaryDirectory() as folder:
        log = eval(
            "inspect_dining/philosophers",
            task_args={"n": SEATS, "episodes": GAMES, "rounds": ROUNDS},
            model=made,
            log_dir=folder,
            display="none",
            fail_on_error=False,
        )[0]
        return _read(model, log)


def _plain(error: Exception) -> str:
    """Inspect's message on one line, without colour codes."""
    return " ".join(re.sub(r"\[/?[a-z]+\]", "", str(error)).split()).removeprefix("ERROR: ")


def _read(model: str, log: "EvalLog") -> Check:
    """The findings from the log of the games."""
    from inspect_ai.event import ModelEvent

    from inspect_dining.analysis.inputs.collection import records
    from inspect_dining.analysis.show.said import said_in

    kinds: dict[Kind, int] = {}
    lost, lost_kind = "", None
    for episode in records(log):
        for number, codes in enumerate(episode.record.rounds if episode.record else (), 1):
            for seat, code in enumerate(codes):
                kind = READINGS[code].kind
                kinds[kind] = kinds.get(kind, 0) + 1
                if kind in LOST and lost_kind is None:
                    words = said_in(log, episode.sample, episode.epoch).get((number, seat), "")
                    lost, lost_kind = words[:300], kind
    errors = [sample.error.message for sample in log.samples or [] if sample.error]
    calls = [event for sample in log.samples or [] for event in sample.events if isinstance(event, ModelEvent)]
    usages = [event.output.usage for event in calls if event.output.usage is not None]
    times = [event.working_time for event in calls if event.working_time is not None]
    turns = sum(kinds.values())
    return Check(
        model=model,
        turns=turns,
        kinds=kinds,
        lost=lost,
        lost_kind=lost_kind,
        input_tokens=sum(usage.input_tokens for usage in usages) / max(turns, 1),
        output_tokens=sum(usage.output_tokens for usage in usages) / max(turns, 1),
        seconds=sum(times) / max(len(times), 1),
        error=" ".join((errors[0] if errors else log.error.message if log.error else "").split())[:300],
    )
