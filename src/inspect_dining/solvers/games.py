"""The interface between the dinner and a game, and the dining philosophers as such a game.

The dinner handles lanes, spans, models and the store. Everything specific to a game comes from a `DinnerGame`: whose
reply is wanted, what they are shown, how a reply is read, and what is recorded of a round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from inspect_ai.tool import ToolInfo

from inspect_dining.philosophers.graph import tools
from inspect_dining.philosophers.prompts import observation, system_prompt
from inspect_dining.philosophers.reading import Reply, Stop, read
from inspect_dining.philosophers.reasoning import spoken
from inspect_dining.table.game import Game
from inspect_dining.table.moves import Kind, Outcome, Reading
from inspect_dining.table.narration import account, happened, meals_by_seat, plain, round_card
from inspect_dining.table.record import DEADLOCK, RECORD, Record, cut, ending
from inspect_dining.table.rules import Rules
from inspect_dining.table.table import Table
from inspect_dining.table.talk import as_message, donor_seed
from inspect_dining.table.view import View, describe


class Understood(Protocol):
    """A reply as it was read."""

    @property
    def kind(self) -> Kind:
        """The kind of reading."""


V = TypeVar("V")
"""What a game shows a seat."""
R = TypeVar("R", bound=Understood)
"""How a game reads a reply."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a seat is told about its turn.

    Attributes:
        answer: The tool result, in a kept conversation, for the call that acted.
        line: The line in the seat's lane.
        turn: Whether this was a turn, which a seat with a memory remembers; a message is not a turn.
    """

    answer: str
    line: str
    turn: bool = True


class DinnerGame(Protocol[V, R]):
    """One game in progress, as the dinner sees it.

    A move is the replies of all seats in `to_move`, who are asked at once; a round is one or more moves. A move need
    not be an action: a round of messages is a move too.
    """

    @property
    def n(self) -> int:
        """The number of seats."""

    @property
    def key(self) -> str:
        """The key under which a sample's store holds the record."""

    @property
    def number(self) -> int:
        """The round being played, counted from 1."""

    @property
    def over(self) -> bool:
        """Whether the game has ended."""

    @property
    def to_move(self) -> tuple[int, ...]:
        """The seats whose reply is wanted now."""

    @property
    def tools(self) -> tuple[ToolInfo, ...]:
        """The tools that are offered with every request; they are never executed."""

    def system(self, seat: int) -> str:
        """The system prompt of a seat."""

    def view(self, seat: int) -> V:
        """What a seat sees now."""

    def observation(self, view: V, recalled: Sequence[V]) -> str:
        """What a seat reads: its view, and its own earlier ones that it remembers."""

    def read(self, reply: Reply) -> R:
        """The reading of a reply."""

    def move(self, replies: Sequence[R]) -> bool:
        """Takes the replies of the seats in `to_move`; returns whether a round closed."""

    def fail(self, seat: int) -> bool:
        """Whether the game continues without a seat that could not reply; if so, it leaves `to_move`."""

    def told(self, seat: int) -> Told | None:
        """What a seat is told about the move it has just made, or None for nothing."""

    def heading(self) -> str:
        """A few words on the round that has just closed, for the outline of a transcript."""

    def card(self, said: Mapping[int, str]) -> str:
        """The card of the round that has just closed, in Markdown, with what each seat said."""

    def record(self, unfinished: str = "unfinished") -> dict[str, object]:
        """The record up to the last whole round, as plain values."""

    def account(self, unfinished: str) -> str:
        """An account of the whole game, in Markdown."""

    def result(self, unfinished: str) -> str:
        """How the game ended, in a sentence or two."""


@dataclass(frozen=True, slots=True)
class Message:
    """A reply to a request for a message.

    Attributes:
        text: What the neighbours hear; an empty string is silence.
    """

    text: str

    @property
    def kind(self) -> Kind:
        """Silence is empty; every other message is read as it is."""
        return Kind.ACTION if self.text else Kind.EMPTY


Answer = Reading | Message
"""How a philosopher's reply is read."""
CALL_IN_TALK = "A message was wanted, so nothing was done."


class PhilosophersGame:
    """The dining philosophers, as the dinner plays them.

    Attributes:
        other: Under `talk_control="shuffled"`, the game that the same seats must finish before this one begins; its
            messages are heard here.
    """

    key = RECORD

    def __init__(
        self,
        rules: Rules,
        seed: int,
        rescue: bool = False,
        prompt: str = "default",
        keeps_calls: bool = False,
        crashes: bool = False,
    ) -> None:
        """Sets an empty table.

        Args:
            rules: The rules of the game.
            seed: The episode's seed.
            rescue: Whether an unambiguous call in the text counts if there is no native call.
            prompt: A prompt strategy, or the text of a prompt (see `philosophers.prompts`).
            keeps_calls: Whether conversations are kept. They hold calls, which strict providers accept only together
                with the tools; otherwise a message is requested without tools.
            crashes: Whether a seat that cannot reply counts as crashed (not while seats talk one at a time).
        """
        self.rules = rules
        self._crashes = crashes
        self.n = rules.n
        self.other: PhilosophersGame | None = None
        if rules.talk_control == "shuffled":
            unshuffled = replace(rules, talk_control="none")
            self.other = PhilosophersGame(unshuffled, donor_seed(seed), rescue, prompt, keeps_calls)
        self._seed = seed
        self._rescue = rescue
        self._prompt = prompt
        self._keeps_calls = keeps_calls
        self._game: Game | None = None
        self._opened: Table = Table.empty(rules.n)
        self._spoke = False

    @property
    def game(self) -> Game:
        """The game, created on first use."""
        if self._game is None:
            donor = () if self.other is None else self.other.game.record().messages
            self._game = Game(self.rules, self._seed, donor)
        return self._game

    @property
    def number(self) -> int:
        """The round being played."""
        return self.game.table.round

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.game.over

    @property
    def to_move(self) -> tuple[int, ...]:
        """The seats whose message or decision is wanted now."""
        return self.game.to_speak or self.game.to_move

    @property
    def tools(self) -> tuple[ToolInfo, ...]:
        """The six tools; none when a message is wanted, unless conversations are kept."""
        return () if self.game.to_speak and not self._keeps_calls else tools()

    def system(self, seat: int) -> str:
        """The system prompt, the same for every seat."""
        return system_prompt(self.rules, self._prompt)

    def view(self, seat: int) -> View:
        """What a seat sees now."""
        return self.game.view(seat)

    def observation(self, view: View, recalled: Sequence[View]) -> str:
        """What a seat reads before its turn or its message."""
        return observation(view, recalled)

    def read(self, reply: Reply) -> Answer:
        """The reading of a reply; when a message is wanted, it is the text and never an action."""
        if self.game.to_speak:
            return Message("" if reply.stop is Stop.REFUSED else as_message(spoken(reply.text)))
        return read(reply, self._rescue)

    def move(self, replies: Sequence[Answer]) -> bool:
        """Takes the messages or decisions of the seats that were asked; returns whether the round closed."""
        before = self.game.table
        if before.round != self._opened.round:
            self._opened = before
        self._spoke = bool(self.game.to_speak)
        if self._spoke:
            self.game.speak([reply.text for reply in replies if isinstance(reply, Message)])
            return False
        return self.game.move([reply for reply in replies if isinstance(reply, Reading)])

    def fail(self, seat: int) -> bool:
        """Crashes a seat whose model failed, if `crashes` is set and other seats remain."""
        others = set(range(self.n)) - {seat} - {fault.seat for fault in self.game.rules.seat_faults}
        talks_in_turn = bool(self.game.to_speak) and self.rules.order == "sequential"
        if not self._crashes or not others or talks_in_turn:
            return False
        self.game.fail(seat)
        return True

    def told(self, seat: int) -> Told | None:
        """The outcome of a seat's turn, or what is heard of its message."""
        if self._spoke:
            said = self.game.said(seat)
            return Told(CALL_IN_TALK, f"Says: {plain(said)}" if said else "Says nothing.", turn=False)
        table = self.game.table
        turn = table.last[seat]
        if turn is None:
            return None
        came = describe(turn)
        mark = "" if turn.outcome is Outcome.DONE else "✗ "
        return Told(came, f"{mark}{came} Meals: {table.meals[seat]}.")

    def heading(self) -> str:
        """The round that has just closed: its number, who ate, what was lost, and where it locked."""
        end = "DEADLOCK" if self.game.ended == DEADLOCK else happened(self._opened, self.game.table)
        return f"round {self._opened.round}: {end}"

    def card(self, said: Mapping[int, str]) -> str:
        """The round that has just closed, with an excerpt of what each seat said."""
        begun = self.game.faults.begun
        faulty = [seat for seat, number in begun.items() if number <= self._opened.round]
        return round_card(self.game.rules, self._opened, self.game.table, faulty, said, self.game.exchanges)

    def record(self, unfinished: str = "unfinished") -> dict[str, object]:
        """The record up to the last whole round."""
        return self._record(unfinished).to_dict()

    def _record(self, unfinished: str) -> Record:
        if self._game is None:
            return Record(self.rules, self._seed, cut(unfinished), (), ())
        return self._game.record(unfinished)

    def account(self, unfinished: str) -> str:
        """Why the game ended, who ate when, and which turns were lost."""
        return account(self._record(unfinished))

    def result(self, unfinished: str) -> str:
        """How the game ended, and the meals."""
        table = self.game.table if self._game else self._opened
        return f"{ending(self._record(unfinished))} Meals: {sum(table.meals)} ({meals_by_seat(table)})."
