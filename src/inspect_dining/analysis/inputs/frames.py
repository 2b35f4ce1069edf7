"""Games as tidy data frames: one row per game, seat or turn, with the ten scores of the game."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from inspect_dining.analysis.inputs.collection import read
from inspect_dining.analysis.inputs.episodes import Episode, Status
from inspect_dining.errors import BadInput
from inspect_dining.scorers.catalogue import SCORES
from inspect_dining.table.moves import Outcome
from inspect_dining.table.record import replay
from inspect_dining.table.round import ate

if TYPE_CHECKING:
    import pandas as pd
    from inspect_ai.log import EvalLog

By = Literal["game", "seat", "turn"]
"""The unit of a row."""
Row = Mapping[str, object]


def frame(logs: "str | Path | EvalLog | Sequence[str | Path | EvalLog]", by: By = "game") -> "pd.DataFrame":
    """A tidy data frame of the games of some logs.

    Every row names its player (`model`, `roles` with their own model, `settings`, `prompt` by its hash) and its
    game (`log`, `n`, `rounds`, `sample`, `epoch`), its fate (`status`, `ended`, `played` rounds, `meals` of
    the whole table) and its ten scores, which are missing if the game is not scored. Games without a record are rows
    by game only.

    Args:
        logs: Log files, folders of them, or logs in memory; one or several.
        by: `game`: one row per game, with `tokens` and, for every seat i, `meals_seat_i`, `lost_turns_seat_i` and
            `tokens_seat_i`, which are missing if the table has no such seat. `seat`: one row per seat of each
            game, with `seat`, the `model` of that seat, `seat_meals`, `seat_lost_turns` and `seat_tokens`. `turn`: one
            row per turn, with `seat`, `round`, `reading`, `action`, `outcome`, `ate`, and `left` and `right`, the
            forks held afterwards.

    Raises:
        BadInput: `by` is not one of these, or there is no dinner in the logs.
    """
    if by not in get_args(By):
        raise BadInput(f"by={by!r} is not accepted: give game, seat or turn.")
    import pandas as pd

    several = list(logs) if isinstance(logs, Sequence) and not isinstance(logs, str) else [logs]
    rows_of = {"game": _games, "seat": _seats, "turn": _turns}[by]
    return pd.DataFrame([row for episode in read(several).episodes for row in rows_of(episode)])


def _common(episode: Episode) -> dict[str, object]:
    record = episode.record
    scored = episode.scores if episode.status is Status.SCORED else {}
    rounds = replay(record) if record is not None else ()
    return {
        "log": episode.run.log.rsplit("/", 1)[-1],
        "model": episode.run.player.model,
        "roles": _joined(episode.run.player.roles),
        "settings": _joined(episode.run.player.settings),
        "prompt": dict(episode.run.setup).get("prompt"),
        "n": episode.n,
        "rounds": episode.rules.rounds,
        "sample": episode.sample,
        "epoch": episode.epoch,
        "status": str(episode.status),
        "ended": record.ended if record is not None else episode.reason,
        "played": len(rounds),
        "meals": sum(rounds[-1].after.meals) if rounds else 0,
        **{name: scored.get(name) for name in SCORES},
    }


def _joined(pairs: Sequence[tuple[str, str]]) -> str:
    return "; ".join(f"{name}={value}" for name, value in pairs)


def _games(episode: Episode) -> Iterator[Row]:
    about = _by_seat(episode)
    kinds = ("meals", "lost_turns", "tokens")
    by_seat = {f"{kind}_seat_{seat}": row[f"seat_{kind}"] for kind in kinds for seat, row in enumerate(about)}
    yield {**_common(episode), "tokens": episode.usage.tokens, **by_seat}


def _seats(episode: Episode) -> Iterator[Row]:
    common = _common(episode)
    for seat, about in enumerate(_by_seat(episode)):
        yield {**common, "seat": seat, "model": _seated(episode, seat), **about}


def _seated(episode: Episode, seat: int) -> str:
    """The model of a seat: the run's own, or that of the role seated there in this game."""
    run, model = episode.run, episode.seating[seat]
    return run.player.model if model == run.models[""] else model


def _by_seat(episode: Episode) -> list[Row]:
    """Meals, lost turns and tokens of every seat; empty without a record."""
    if episode.record is None:
        return []
    rounds, tokens = replay(episode.record), episode.usage.seats
    return [
        {
            "seat_meals": rounds[-1].after.meals[seat] if rounds else 0,
            "seat_lost_turns": sum(round.turns[seat].outcome is Outcome.LOST for round in rounds),
            "seat_tokens": tokens[seat] if tokens else None,
        }
        for seat in range(episode.n)
    ]


def _turns(episode: Episode) -> Iterator[Row]:
    if episode.record is None:
        return
    common = _common(episode)
    for round in replay(episode.record):
        for seat, turn in enumerate(round.turns):
            action = turn.reading.action
            yield {
                **common,
                "seat": seat,
                "model": _seated(episode, seat),
                "round": round.number,
                "reading": str(turn.reading.kind),
                "action": None if action is None else str(action),
                "outcome": str(turn.outcome),
                "ate": ate(turn),
                "left": round.after.held[seat] == seat,
                "right": round.after.held[(seat + 1) % episode.n] == seat,
            }
