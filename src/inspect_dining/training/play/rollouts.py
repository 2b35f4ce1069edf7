"""Games played by the policy: many at once, in lock-step, with the prompt, reading and record of an evaluation.

In every pass each game that goes on asks for the seats to move; the requests of all games are put to the model
together, and equal prompts are computed once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspect_dining.philosophers.prompts import observation, system_prompt, tool_schemas
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.table.game import Game
from inspect_dining.table.moves import Reading
from inspect_dining.table.record import Record
from inspect_dining.table.rules import Rules
from inspect_dining.table.view import View
from inspect_dining.training.play.policy import Policy, Reply

MAX_CACHED = 200_000
TOOLS = tool_schemas()


@dataclass(frozen=True, slots=True)
class Play:
    """One game to be played.

    Attributes:
        rules: Its rules.
        seed: The episode's seed, which keys ties.
        key: Keys the sampling of its replies, with seat and round added; None plays greedily.
    """

    rules: Rules
    seed: int
    key: str | None


@dataclass(frozen=True, slots=True)
class Said:
    """One seat's turn as the model saw and wrote it.

    Attributes:
        prompt: The prompt's ids.
        reply: The reply's ids and log-probabilities as sampled.
        acts: Whether the reply was read as an action.
    """

    prompt: Ids
    reply: Reply
    acts: bool


@dataclass(frozen=True, slots=True)
class Episode:
    """A played game.

    Attributes:
        record: Its record.
        turns: Every turn, in the order of play; none where they were not kept.
    """

    record: Record
    turns: tuple[Said, ...]


class Dinner:
    """Plays games with a policy, keeping the ids of prompts and the readings of replies that it has met.

    Attributes:
        policy: The model that takes every seat.
    """

    def __init__(self, policy: Policy, read: Callable[[str, bool], Reading]) -> None:
        """Takes a policy, and how a reply's text is read (the text, and whether the token limit cut it)."""
        self.policy = policy
        self._read = read
        self._ids: dict[tuple[str, View], Ids] = {}
        self._readings: dict[tuple[Ids, bool], Reading] = {}

    def play(self, plays: Sequence[Play], keep: bool = True) -> list[Episode]:
        """Plays games in lock-step to their end; `keep` keeps what was said, to train on it."""
        games = [Game(play.rules, play.seed) for play in plays]
        turns: list[list[Said]] = [[] for _ in plays]
        while any(not game.over for game in games):
            seats = [(g, seat) for g, game in enumerate(games) for seat in game.to_move]
            views = [games[g].view(seat) for g, seat in seats]
            prompts = self.prompts([(plays[g].rules, view) for (g, _), view in zip(seats, views, strict=True)])
            numbers: dict[Ids, int] = {}
            for prompt in prompts:
                numbers.setdefault(prompt, len(numbers))
            rows = [
                (numbers[prompt], None if plays[g].key is None else f"{plays[g].key}/{seat}/{view.round}")
                for (g, seat), view, prompt in zip(seats, views, prompts, strict=True)
            ]
            replies = self.policy.sample(list(numbers), rows)
            readings: dict[int, list[Reading]] = {}
            for (g, _), prompt, reply in zip(seats, prompts, replies, strict=True):
                reading = self.reading(reply)
                readings.setdefault(g, []).append(reading)
                if keep:
                    turns[g].append(Said(prompt, reply, reading.acts))
            for g, game in enumerate(games):
                if not game.over:
                    game.move(readings.get(g, []))
        return [Episode(game.record(), tuple(said)) for game, said in zip(games, turns, strict=True)]

    def reading(self, reply: Reply) -> Reading:
        """What a reply is read as, by the same function as in an evaluation."""
        known = (reply.ids, reply.ended)
        if known not in self._readings:
            text = self.policy.prompts.reply(reply.ids, self.policy.stops)
            self._readings[known] = self._read(text, not reply.ended)
        return self._readings[known]

    def prompts(self, seen: Sequence[tuple[Rules, View]]) -> list[Ids]:
        """The prompt ids of views."""
        if len(self._ids) > MAX_CACHED:
            self._ids.clear()
        keys = [(system_prompt(rules), view) for rules, view in seen]
        new: dict[str, list[View]] = {}
        for system, view in dict.fromkeys(keys):
            if (system, view) not in self._ids:
                new.setdefault(system, []).append(view)
        for system, views in new.items():
            made = self.policy.prompts.ids(
                [{"role": "system", "content": system}], list(map(observation, views)), TOOLS
            )
            self._ids.update(zip([(system, view) for view in views], made, strict=True))
        return [self._ids[key] for key in keys]


class LocalActor:
    """Plays a step's games with the model in this process.

    Attributes:
        dinner: The model at the table.
    """

    def __init__(self, dinner: Dinner) -> None:
        """Takes the model that is trained, at the table."""
        self.dinner = dinner

    def begin(self, url: str) -> None:
        """Nothing runs beside this process."""

    def play(self, step: int, plays: Sequence[Play]) -> tuple[list[Episode], dict[str, float]]:
        """Plays games to their end, with nothing to say about it."""
        return self.dinner.play(plays), {}

    def close(self) -> None:
        """Nothing runs beside this process."""
