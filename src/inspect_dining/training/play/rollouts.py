"""Games played by the policy: many at once, in lock-step, with the prompt, reading and record of an evaluation.

In every pass, each unfinished game requests its seats' replies; the requests of all games go to the model
together, and equal prompts are computed once. Some seats may see the game in a mirror, and some may be played by
strangers (see `strangers`); the record is that of the actual game.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import torch

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.prompts import observation, system_prompt, tool_schemas
from inspect_dining.philosophers.reading import Stop, reply_from_text
from inspect_dining.philosophers.tokens import Ids, Message
from inspect_dining.table.game import Game
from inspect_dining.table.moves import ACTS, NO_CALL, Reading
from inspect_dining.table.players.scripted import scripted
from inspect_dining.table.record import Record
from inspect_dining.table.reflection import reflect_reading, reflect_turn, reflect_view
from inspect_dining.table.rules import Coin, Rules
from inspect_dining.table.view import View
from inspect_dining.training.play.memory import Memory, Recollection
from inspect_dining.training.play.policy import Policy, Reply

MAX_CACHED = 200_000
TOOLS = tool_schemas()
PAST = "past"
"""The name, among a game's partners, of an older checkpoint of the run."""


@dataclass(frozen=True, slots=True)
class Play:
    """One game to be played.

    Attributes:
        rules: Its rules.
        seed: The episode's seed, which keys ties.
        key: Keys the sampling of its replies, with seat and round added; None plays greedily.
        mirrored: The model's seats that see the game in a mirror.
        partners: For each seat, its player: a scripted player's name, `PAST`, or None for the policy. Empty if the
            policy plays every seat.
        epoch: Keys scripted coins, with seed, seat and round, as in an evaluation.
    """

    rules: Rules
    seed: int
    key: str | None
    mirrored: frozenset[int] = frozenset()
    partners: tuple[str | None, ...] = ()
    epoch: int = 1

    def partner(self, seat: int) -> str | None:
        """The partner that plays a seat in place of the policy."""
        return self.partners[seat] if self.partners else None


@dataclass(frozen=True, slots=True)
class TurnSample:
    """One seat's turn with the model's prompt and reply.

    Attributes:
        prompt: The prompt's ids.
        reply: The reply's ids and log-probabilities as sampled.
        acts: Whether the reply was read as an action.
    """

    prompt: Ids
    reply: Reply
    acts: bool


@dataclass(frozen=True, slots=True)
class Rollout:
    """A played game.

    Attributes:
        record: Its record, of the actual game.
        turns: Every turn of the seats that the policy played, in the order of play; empty if they were not kept.
        seats: The seats that the policy played; None for all of them.
        mirrored: The seats that saw the game in a mirror, whose prompts and replies are mirrored.
    """

    record: Record
    turns: tuple[TurnSample, ...]
    seats: tuple[int, ...] | None = None
    mirrored: frozenset[int] = frozenset()

    @property
    def learning(self) -> tuple[int, ...]:
        """The seats of these turns; each round has one turn of each, in this order."""
        return tuple(range(self.record.rules.n)) if self.seats is None else self.seats

    @property
    def opening(self) -> tuple[TurnSample, ...]:
        """The turns of the first round."""
        return self.turns[: len(self.learning)]


_Turn = tuple[int, int, View]
"""A game's index, a seat, and its view."""
_Minds = Sequence[Sequence[Recollection]]
"""The memories of the seats of each game."""


class Dinner:
    """Plays games with a policy, caching the ids of prompts and the readings of replies.

    Attributes:
        policy: The model that takes every seat.
        memory: The memory of a seat.
        past: The model that plays the seats of `PAST`.
    """

    def __init__(self, policy: Policy, read: Callable[[str, bool], Reading], memory: Memory = 0) -> None:
        """Takes a policy, the reader of a reply (of its text, and whether the token limit cut it), and the memory."""
        self.policy = policy
        self.memory = memory
        self.past: Dinner | None = None
        self._read = read
        self._ids: dict[tuple[str, View, tuple[View, ...]], Ids] = {}
        self._readings: dict[tuple[Ids, bool], Reading] = {}

    def play(self, plays: Sequence[Play], keep: bool = True) -> list[Rollout]:
        """Plays games in lock-step to their end; `keep` keeps the turns, for training."""
        games = [Game(play.rules, play.seed) for play in plays]
        minds = [[Recollection(play.rules, self.memory) for _ in range(play.rules.n)] for play in plays]
        turns: list[list[TurnSample]] = [[] for _ in plays]
        while any(not game.over for game in games):
            decided: list[dict[int, Reading]] = [{} for _ in plays]
            mine: list[_Turn] = []
            of_past: list[_Turn] = []
            seats = [(g, seat) for g, game in enumerate(games) for seat in game.to_move]
            for g, seat in seats:
                play, view = plays[g], games[g].view(seat)
                partner = play.partner(seat)
                if partner is None or partner == PAST:
                    seen = reflect_view(view) if seat in play.mirrored else view
                    (mine if partner is None else of_past).append((g, seat, seen))
                else:
                    action = scripted(partner).decide(view, Coin(play.seed, play.epoch, view.round, seat))
                    decided[g][seat] = NO_CALL if action is None else ACTS[action]
            said = self._asked(plays, minds, mine)
            if keep:
                for (g, _, _), one in zip(mine, said, strict=True):
                    turns[g].append(one)
            past = self.past._asked(plays, minds, of_past) if self.past and of_past else []
            for (g, seat, _), one in chain(zip(mine, said, strict=True), zip(of_past, past, strict=True)):
                reading = self.reading(one.reply)
                decided[g][seat] = reflect_reading(reading) if seat in plays[g].mirrored else reading
            for game, readings in zip(games, decided, strict=True):
                if not game.over:
                    game.move([readings[seat] for seat in game.to_move])
            if self.memory == "chat":
                for g, seat, _ in (*mine, *of_past):
                    if (turn := games[g].table.last[seat]) is not None:
                        minds[g][seat].came(reflect_turn(turn) if seat in plays[g].mirrored else turn)
        return [
            Rollout(game.record(), tuple(some), _learning(play), play.mirrored)
            for play, game, some in zip(plays, games, turns, strict=True)
        ]

    def _asked(self, plays: Sequence[Play], minds: _Minds, turns: Sequence[_Turn]) -> list[TurnSample]:
        """The model's replies in some turns."""
        if not turns:
            return []
        if self.memory == "chat":
            prompts = [self._conversation(minds[g][seat].messages(view)) for g, seat, view in turns]
        else:
            recalled = [minds[g][seat].recalled(view) for g, seat, view in turns]
            prompts = self.prompts([(plays[g].rules, view) for g, _, view in turns], recalled)
        numbers: dict[Ids, int] = {}
        for prompt in prompts:
            numbers.setdefault(prompt, len(numbers))
        rows = [
            (numbers[prompt], None if plays[g].key is None else f"{plays[g].key}/{seat}/{view.round}")
            for (g, seat, view), prompt in zip(turns, prompts, strict=True)
        ]
        replies = self.policy.sample(list(numbers), rows)
        if self.memory == "chat":
            for (g, seat, _), reply in zip(turns, replies, strict=True):
                text = self.policy.prompts.reply(reply.ids, self.policy.stops)
                minds[g][seat].heard(reply_from_text(text, Stop.FINISHED if reply.ended else Stop.LENGTH))
        return [
            TurnSample(prompt, reply, self.reading(reply).acts) for prompt, reply in zip(prompts, replies, strict=True)
        ]

    def _conversation(self, messages: Sequence[Message]) -> Ids:
        """The prompt ids of a kept conversation.

        Raises:
            BadInput: The model's context cannot hold it with a reply.
        """
        (ids,) = self.policy.prompts.encode([self.policy.prompts.text(messages, TOOLS)])
        room = getattr(self.policy.model.config, "max_position_embeddings", None)
        if isinstance(room, int) and len(ids) + self.policy.max_tokens > room:
            raise BadInput(
                f"A kept conversation has {len(ids)} tokens, but the model's context has room for {room} with a reply "
                f"of {self.policy.max_tokens}; train on shorter games, or with --memory 4, say."
            )
        return ids

    def reading(self, reply: Reply) -> Reading:
        """Reads a reply with the same function as an evaluation."""
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


def _learning(play: Play) -> tuple[int, ...] | None:
    if not play.partners:
        return None
    return tuple(seat for seat in range(play.rules.n) if play.partner(seat) is None)


class Older(Protocol):
    """Provides the older checkpoint that plays as a partner in a step."""

    def at(self, step: int, device: torch.device) -> Dinner:
        """The checkpoint at the table, on a device."""


class LocalActor:
    """Plays a step's games with the model in this process.

    Attributes:
        dinner: The model at the table.
    """

    def __init__(self, dinner: Dinner, older: Older | None = None) -> None:
        """Takes the model being trained, at the table, and the provider of its older checkpoints."""
        self.dinner = dinner
        self._older = older

    def begin(self, url: str) -> None:
        """Nothing to do, since there is no other process."""

    def play(self, step: int, plays: Sequence[Play]) -> tuple[list[Rollout], dict[str, float]]:
        """Plays games to their end, and adds no metrics."""
        if self._older is not None and any(PAST in play.partners for play in plays):
            self.dinner.past = self._older.at(step, next(self.dinner.policy.model.parameters()).device)
        with self.dinner.policy.together():
            return self.dinner.play(plays), {}

    def close(self) -> None:
        """Nothing to do, since there is no other process."""
