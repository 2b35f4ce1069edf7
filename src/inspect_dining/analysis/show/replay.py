"""`replay`: one game round by round in the terminal, from a log or from the JSON of a bare record."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from inspect_dining.analysis.comparison.compare import labels_of
from inspect_dining.analysis.inputs.stored import checked
from inspect_dining.analysis.show import formatting
from inspect_dining.border import plain, read_json
from inspect_dining.errors import BadInput
from inspect_dining.scorers.catalogue import compute_scores
from inspect_dining.scorers.shaping import Shaping
from inspect_dining.scorers.terms import terms
from inspect_dining.table.moves import Action, Kind, Outcome, Turn
from inspect_dining.table.narration import forks, messages
from inspect_dining.table.record import Record, ending, replay
from inspect_dining.table.round import Round

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from inspect_dining.analysis.show.said import Said

_LONG = {
    Action.PICK_UP_LEFT: "+left",
    Action.PICK_UP_RIGHT: "+right",
    Action.PUT_DOWN_LEFT: "-left",
    Action.PUT_DOWN_RIGHT: "-right",
    Action.EAT: "eat",
    Action.THINK: "think",
}
_SHORT = {
    Action.PICK_UP_LEFT: "+l",
    Action.PICK_UP_RIGHT: "+r",
    Action.PUT_DOWN_LEFT: "-l",
    Action.PUT_DOWN_RIGHT: "-r",
    Action.EAT: "E",
    Action.THINK: "·",
}
_STYLES = {Outcome.DONE: "", Outcome.LOST_TIE: "yellow", Outcome.NO_EFFECT: "red", Outcome.LOST: "magenta"}
_MARKS = {Outcome.DONE: "", Outcome.LOST_TIE: " tie", Outcome.NO_EFFECT: " no", Outcome.LOST: ""}
_SHORT_MARKS = {Outcome.DONE: "", Outcome.LOST_TIE: "~", Outcome.NO_EFFECT: "=", Outcome.LOST: ""}
_LEGEND = (
    "+ picks up, - puts down; tie: the neighbour got the fork; no: the rules do not allow it now; ● ○: which forks "
    "the seat then holds, left and right; *: one of several calls, or a call read from text. A turn without an action "
    "shows its kind."
)
_SHORT_LEGEND = (
    "+l +r picks up, -l -r puts down, E eats, · thinks, ? no action; ~: the neighbour got the fork; =: the rules do "
    "not allow it now; ● ○: which forks the seat then holds, left and right."
)


_FRAME = 18
"""Columns taken by the number of the round and the meals."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A game to be shown.

    Attributes:
        record: Its record.
        title: Its title: model, sample and epoch, or the file.
        shaping: The shaping of its reward, if it is known.
        more: A sentence on what else the log holds, or empty.
        source: The log file, sample id and epoch, if it is not a bare record.
    """

    record: Record
    title: str
    shaping: Shaping | None = None
    more: str = ""
    source: tuple[str, str, int] | None = None

    def said(self) -> "Said":
        """The words of each seat, by round and seat; empty for a bare record."""
        if self.source is None:
            return {}
        from inspect_dining.analysis.show.said import said_in

        return said_in(*self.source)


def shown(log: Path | str, sample: str | None = None, epoch: int | None = None, model: str | None = None) -> Shown:
    """Finds a game.

    Args:
        log: A log file, a folder of logs, or a file with the JSON of one record.
        sample: A sample id; None for the first game.
        epoch: An epoch; None for the first one present.
        model: A part of the model's name; None for any model.

    Returns:
        The game; of several logs that hold it, that of the newest.

    Raises:
        BadInput: There is no such game.
    """
    bare = _bare(Path(log))
    if bare is not None:
        if sample is not None or epoch is not None or model is not None:
            raise BadInput(f"{log} is a single record: leave --sample, --epoch and --model out.")
        return Shown(bare, plain(log))
    from inspect_dining.analysis.inputs.collection import games

    holding = _holding(log, sample, model)
    newest = holding[0].location if holding else str(log)
    episode = next(games(newest, sample, epoch))
    record = episode.record
    assert record is not None, "games have records"
    name = labels_of([episode.run.player])[episode.run.player]
    notes = []
    if len(holding) > 1:
        others = ", ".join(plain(f"{one.location.rsplit('/', 1)[-1]} ({one.eval.model})") for one in holding[1:4])
        others += f" and {len(holding) - 4} more" if len(holding) > 4 else ""
        notes.append(
            f"{len(holding)} logs hold {sample or 'games'}; this is the newest, {newest.rsplit('/', 1)[-1]}. Others: "
            f"{others}. Choose with --model, or name a file."
        )
    count = sum(episode.run.sizes.values())
    if count > 1 and sample is None:
        notes.append(f"The first of {count} games; choose with --sample and --epoch.")
    return Shown(
        record,
        f"{name}, {episode.sample}, epoch {episode.epoch}",
        episode.run.shaping,
        " ".join(notes),
        (newest, episode.sample, episode.epoch),
    )


def _holding(log: Path | str, sample: str | None, model: str | None) -> "list[EvalLog]":
    """The headers of the logs that hold a game, the newest first.

    Raises:
        BadInput: No log has that model.
    """
    from inspect_dining.analysis.inputs.log_files import find, head

    notes: list[str] = []
    heads = [header for source in find([log], notes) if (header := head(source, notes)) is not None]
    holding = [one for one in heads if sample is None or sample in map(plain, one.eval.dataset.sample_ids or [])]
    if model is not None:
        names = sorted({one.eval.model for one in holding})
        holding = [one for one in holding if model in one.eval.model]
        if names and not holding:
            raise BadInput(f"--model {model} names no model; the logs are of {', '.join(names)}.")
    return sorted(holding, key=lambda one: one.eval.created, reverse=True)


def game(show: Shown, width: int) -> RenderableType:
    """A game as a table: one line per round, one column per seat.

    Args:
        show: The game.
        width: Columns of the terminal; if long names do not fit, actions are abbreviated, and if not all seats fit, the
            game is split into several tables.
    """
    record = show.record
    rounds, n = replay(record), record.rules.n
    widths = [len("seat 99")] * n
    for round in rounds:
        widths = [max(least, len(_cell(round, seat, long=True))) for seat, least in enumerate(widths)]
    long = _FRAME + sum(widths) + 2 * n <= width
    block = n if long else max(1, (width - _FRAME) // 6)
    tables: list[RenderableType] = []
    for first in range(0, n, block):
        tables += [_table(rounds, range(first, min(n, first + block)), long), ""]
    options = ", ".join(f"{name} {value}" for name, value in record.rules.options().items())
    parts: list[RenderableType] = [Text(show.title, "bold"), Text(f"{options}; seed {record.seed}"), "", *tables]
    parts += [_talk(record, rounds), ""] if record.rules.talk else []
    parts += [Text(ending(record), "bold"), *_told(show), Text(_LEGEND if long else _SHORT_LEGEND, "dim")]
    if any(round.locked for round in rounds):
        parts.append(Text("▼: every seat holds exactly one fork.", "dim"))
    if any(round.faulty for round in rounds):
        parts.append(Text("!: the seat's fault has begun.", "dim"))
    if show.more:
        parts.append(Text(show.more, "dim"))
    return Group(*parts)


def _table(rounds: Sequence[Round], seats: range, long: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1 if long else 0, 0, 0), header_style="")
    table.add_column("round", justify="right")
    for seat in seats:
        table.add_column(f"seat {seat}" if long else str(seat), no_wrap=True)
    table.add_column("meals", justify="right")
    for round in rounds:
        cells = [_cell(round, seat, long) for seat in seats]
        table.add_row(f"{round.number}{' ▼' if round.locked else ''}", *cells, str(sum(round.after.meals)))
    return table


def _talk(record: Record, rounds: Sequence[Round]) -> Table:
    """The messages before the actions: one line per round and seat that said something."""
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="", title_justify="left",
        title_style="bold",
    )  # fmt: skip
    silenced = record.rules.talk_control != "none"
    table.title = "Messages before the actions" + (", in place of which those of another game were heard" * silenced)
    table.add_column("round", justify="right")
    table.add_column("seat", justify="right")
    table.add_column("says", overflow="fold", ratio=1)
    for round in rounds:
        speaking = [seat for seat in range(len(round.turns)) if any(said[seat] for said in round.exchanges)]
        for place, seat in enumerate(speaking):
            number = "" if place else str(round.number)
            table.add_row(number, f"{seat}{'!' if seat in round.faulty else ''}", Text(messages(round, seat)))
    return table


def _cell(round: Round, seat: int, long: bool) -> Text:
    turn = round.turns[seat]
    action, style = turn.reading.action, _STYLES[turn.outcome]
    held = forks(round.after, seat).replace(" ", "")
    if action is None:
        word = "fault" if seat in round.forced and long else str(turn.reading.kind) if long else "?"
    elif _ate(turn):
        word, style = ("EAT", "bold green") if long else ("E", "bold green")
    else:
        extra = "" if turn.reading.kind is Kind.ACTION else "*"
        word = f"{_LONG[action]}{extra}{_MARKS[turn.outcome]}" if long else _SHORT[action] + _SHORT_MARKS[turn.outcome]
    if seat in round.faulty:
        word, style = f"{word}!", f"{style} underline".strip()
    return Text.assemble(held, " " if long else "", (word, style))


def _ate(turn: Turn) -> bool:
    return turn.reading.action is Action.EAT and turn.outcome is Outcome.DONE


def _told(show: Shown) -> Sequence[RenderableType]:
    """Meals by seat and the scores, if the game ended."""
    if not show.record.complete:
        return []
    played = terms(show.record)
    found = compute_scores(played, show.shaping)
    told = ", ".join(f"{name} {formatting.number(value)}" for name, value in found.items())
    return [Text(f"Meals by seat: {'/'.join(map(str, played.meals))}."), Text(told)]


def _bare(path: Path) -> Record | None:
    """The record in a file that holds nothing else, or None if the file is something else.

    Raises:
        BadInput: The file is meant to be a record but is not valid.
    """
    if not path.is_file() or path.suffix == ".eval":
        return None
    try:
        data = read_json(path)
    except ValueError:
        return None
    if not isinstance(data, dict) or not {"rules", "rounds", "hashes"} <= data.keys():
        return None
    try:
        record = checked(data)
        replay(record)
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from None
    return record
