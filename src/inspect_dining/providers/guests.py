"""Trained checkpoints at one table with scripted players and with each other, without Inspect."""

from collections.abc import Sequence

from inspect_dining.crossplay.seatings import Host, Seated
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.table.game import Game
from inspect_dining.table.moves import ACTS, NO_CALL, Reading
from inspect_dining.table.players.scripted import scripted
from inspect_dining.table.record import Record
from inspect_dining.table.rules import Coin
from inspect_dining.table.view import View
from inspect_dining.training.play.loading import load, prompts, read_text, stop_ids
from inspect_dining.training.play.policy import Policy
from inspect_dining.training.play.rollouts import Dinner

MAX_TOKENS = 256
"""The token limit of a reply."""
_Turn = tuple[int, int, View]
"""A game's index, a seat, and the seat's view."""


def host_of(folders: Sequence[str]) -> Host:
    """Plays games in which some players are checkpoints.

    A checkpoint samples at temperature 1, keyed by game, seat and round, and remembers nothing. All turns that wait for
    one checkpoint are computed together.

    Args:
        folders: The folders of the checkpoints, which are their names in seatings; every other name is a scripted
            player's.

    Raises:
        BadInput: A folder holds no model.
    """
    dinners = {folder: _dinner(folder) for folder in folders}

    def play(planned: Sequence[Seated]) -> list[Record]:
        games = [Game(one.rules, one.seed) for one in planned]
        while any(not game.over for game in games):
            readings: list[dict[int, Reading]] = [{} for _ in games]
            waiting: dict[str, list[_Turn]] = {folder: [] for folder in dinners}
            for place, game in enumerate(games):
                for seat in game.to_move:
                    view, name = game.view(seat), planned[place].seating[seat]
                    if name in waiting:
                        waiting[name].append((place, seat, view))
                        continue
                    action = scripted(name).decide(view, Coin(game.seed, 1, view.round, seat))
                    readings[place][seat] = NO_CALL if action is None else ACTS[action]
            for folder, turns in waiting.items():
                for (place, seat, _), reading in zip(turns, _asked(dinners[folder], planned, turns), strict=True):
                    readings[place][seat] = reading
            for game, decided in zip(games, readings, strict=True):
                if not game.over:
                    game.move([decided[seat] for seat in game.to_move])
        return [game.record() for game in games]

    return play


def _dinner(folder: str) -> Dinner:
    model, tokenizer = load(folder)
    policy = Policy(model, prompts(tokenizer), stops=stop_ids(model, tokenizer), max_tokens=MAX_TOKENS)
    return Dinner(policy, read_text)


def _asked(dinner: Dinner, planned: Sequence[Seated], turns: Sequence[_Turn]) -> list[Reading]:
    """A checkpoint's decisions in some turns."""
    if not turns:
        return []
    ids = dinner.prompts([(planned[place].rules, view) for place, _, view in turns])
    numbers: dict[Ids, int] = {}
    for one in ids:
        numbers.setdefault(one, len(numbers))
    rows = [
        (numbers[one], f"{planned[place].game}/{seat}/{view.round}")
        for one, (place, seat, view) in zip(ids, turns, strict=True)
    ]
    return [dinner.reading(reply) for reply in dinner.policy.sample(list(numbers), rows)]
