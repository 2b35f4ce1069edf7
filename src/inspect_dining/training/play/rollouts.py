"""Games played by the policy: many at once, in lock-step, with the prompt, reading and record of an evaluation.

In every pass each game that goes on asks for the seats to move; the requests of all games are put to the model
together, and equal prompts are computed once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.prompts import observation, system_prompt, tool_schemas
from inspect_dining.philosophers.reading import Stop, reply_from_text
from inspect_dining.philosophers.tokens import Ids, Message
from inspect_dining.table.game import Game
from inspect_dining.table.moves import Reading
from inspect_dining.table.record import Record
from inspect_dining.table.rules import Rules
from inspect_dining.table.view import View
from inspect_dining.training.play.memory import Memory, Recollection
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
        memory: What a seat remembers.
    """

    def __init__(self, policy: Policy, read: Callable[[str, bool], Reading], memory: Memory = 0) -> None:
        """Takes a policy, how a reply's text is read (the text, and whether the token limit cut it), and the memory."""
        self.policy = policy
        self.memory = memory
        self._read = read
        self._ids: dict[tuple[str, View, tuple[View, ...]], Ids] = {}
        self._readings: dict[tuple[Ids, bool], Reading] = {}

    def play(self, plays: Sequence[Play], keep: bool = True) -> list[Episode]:
        """Plays games in lock-step to their end; `keep` keeps what was said, to train on it."""
        games = [Game(play.rules, play.seed) for play in plays]
        minds = [[Recollection(play.rules, self.memory) for _ in range(play.rules.n)] for play in plays]
        turns: list[list[Said]] = [[] for _ in plays]
        while any(not game.over for game in games):
            seats = [(g, seat) for g, game in enumerate(games) for seat in game.to_move]
            views = [games[g].view(seat) for g, seat in seats]
            if self.memory == "chat":
                prompts = [
                    self._conversation(minds[g][seat].messages(view))
                    for (g, seat), view in zip(seats, views, strict=True)
                ]
            else:
                recalled = [minds[g][seat].recalled(view) for (g, seat), view in zip(seats, views, strict=True)]
                rules = [plays[g].rules for g, _ in seats]
                prompts = self.prompts(list(zip(rules, views, strict=True)), recalled)
            numbers: dict[Ids, int] = {}
            for prompt in prompts:
                numbers.setdefault(prompt, len(numbers))
            rows = [
                (numbers[prompt], None if plays[g].key is None else f"{plays[g].key}/{seat}/{view.round}")
                for (g, seat), view, prompt in zip(seats, views, prompts, strict=True)
            ]
            replies = self.policy.sample(list(numbers), rows)
            readings: dict[int, list[Reading]] = {}
            for (g, seat), prompt, reply in zip(seats, prompts, replies, strict=True):
                reading = self.reading(reply)
                readings.setdefault(g, []).append(reading)
                if self.memory == "chat":
                    text = self.policy.prompts.reply(reply.ids, self.policy.stops)
                    minds[g][seat].heard(reply_from_text(text, Stop.FINISHED if reply.ended else Stop.LENGTH))
                if keep:
                    turns[g].append(Said(prompt, reply, reading.acts))
            for g, game in enumerate(games):
                if not game.over:
                    game.move(readings.get(g, []))
            if self.memory == "chat":
                for g, seat in seats:
                    if (turn := games[g].table.last[seat]) is not None:
                        minds[g][seat].came(turn)
        return [Episode(game.record(), tuple(said)) for game, said in zip(games, turns, strict=True)]

    def _conversation(self, messages: Sequence[Message]) -> Ids:
        """The prompt ids of a kept conversation.

        Raises:
            BadInput: The model's context cannot hold it with a reply.
        """
        (ids,) = self.policy.prompts.encode([self.policy.prompts.text(messages, TOOLS)])
        room = getattr(self.policy.model.config, "max_position_embeddings", None)
        if isinstance(room, int) and len(ids) + self.policy.max_tokens > room:
            raise BadInput(
                f"A kept conversation has come to {len(ids)} tokens, and the model's context holds {room} with a reply "
                f"of {self.policy.max_tokens}; train on shorter games, or with --memory 4, say."
            )
        return ids

    def reading(self, reply: Reply) -> Reading:
        """What a reply is read as, by the same function as in an evaluation."""
        known = (reply.ids, reply.ended)
        if known not in self._readings:
            text = self.policy.prompts.reply(reply.ids, self.policy.stops)
            self._readings[known] = self._read(text, not reply.ended)
        return self._readings[known]

    def prompts(
        self, seen: Sequence[tuple[Rules, View]], recalled: Sequence[tuple[View, ...]] | None = None
    ) -> list[Ids]:
        """The prompt ids of views, each with the earlier ones that it shows."""
        if len(self._ids) > MAX_CACHED:
            self._ids.clear()
        before: Sequence[tuple[View, ...]] = [()] * len(seen) if recalled is None else recalled
        keys = [(system_prompt(rules), view, shown) for (rules, view), shown in zip(seen, before, strict=True)]
        new: dict[str, list[tuple[View, tuple[View, ...]]]] = {}
        for system, view, shown in dict.fromkeys(keys):
            if (system, view, shown) not in self._ids:
                new.setdefault(system, []).append((view, shown))
        for system, views in new.items():
            texts = [observation(view, shown) for view, shown in views]
            made = self.policy.prompts.ids([{"role": "system", "content": system}], texts, TOOLS)
            self._ids.update(zip([(system, view, shown) for view, shown in views], made, strict=True))
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
        with self.dinner.policy.together():
            return self.dinner.play(plays), {}

    def close(self) -> None:
        """Nothing runs beside this process."""
