"""A game without input or output: it gives the seats to move and their views, and takes their decisions.

    game = Game(rules, seed)
    while not game.over:
        if game.to_speak:
            game.speak([say(game.view(seat)) for seat in game.to_speak])
        else:
            game.move([decide(game.view(seat)) for seat in game.to_move])
    record = game.record()

The dinner, `play` and the training rollouts all run this loop; only the decisions come from elsewhere. Without talk,
`to_speak` is always empty.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inspect_dining.table.faults import Fault, join_faults
from inspect_dining.table.faulty_seats import FaultySeats
from inspect_dining.table.moves import READINGS, Reading
from inspect_dining.table.record import DEADLOCK, HORIZON, Record, cut
from inspect_dining.table.rules import Rules, check_seed, tie_winner
from inspect_dining.table.table import Table, end_round, move
from inspect_dining.table.talk import Exchange, Messages, Said, Talk, as_message, hear
from inspect_dining.table.view import View, see


class Game:
    """One game in progress.

    Attributes:
        rules: The rules of the game.
        seed: The episode's seed, which keys all ties.
        table: The table as the seats to move see it.
        to_speak: The seats whose message is wanted now: all of them, or one in sequential order, except seats whose
            turn a fault takes, which are silent or lie; empty without talk.
        to_move: The seats whose decision is wanted now: all of them, or one in sequential order, except seats whose
            turn a fault takes (in sequential order possibly leaving none); empty while messages are wanted and once
            over.
        ended: How the game ended (`deadlock` or `horizon`), or None while it goes on.
        faults: The faults of the game.
    """

    def __init__(self, rules: Rules, seed: int, donor: Messages = ()) -> None:
        """Sets an empty table; `donor` holds the messages of another game, for `talk_control="shuffled"`.

        Raises:
            ValueError: The seed is not a whole number from 0 to 2**64 - 1, or the control and the donor do not match.
        """
        if (rules.talk_control == "shuffled") != bool(donor):
            raise ValueError(
                f"talk_control={rules.talk_control!r} got {len(donor)} rounds of another game: 'shuffled' needs "
                "the messages of one, and no other value takes any."
            )
        self.rules = rules
        self.seed = check_seed(seed)
        self.table = Table.empty(rules.n)
        self.ended: str | None = None
        self.faults = FaultySeats(rules, seed)
        self._seats = tuple(range(rules.n))
        self._moving: tuple[int, ...] = ()
        self.to_speak: tuple[int, ...] = ()
        self.to_move: tuple[int, ...] = ()
        self._rounds: list[str] = []
        self._hashes: list[str] = []
        self._codes = ""
        self._donor = donor
        self._messages: list[tuple[Exchange, ...]] = []
        self._exchanges: list[Exchange] = []
        self._exchange: list[str] = []
        self._latest = [Said()] * rules.n
        self._begin_round()

    @property
    def over(self) -> bool:
        """Whether the game has ended, by deadlock or at the horizon."""
        return self.ended is not None

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The messages of the latest whole round."""
        return self._messages[-1] if self._messages else ()

    def said(self, seat: int) -> str:
        """A seat's latest message; an empty string is silence."""
        return self._latest[seat].text

    def view(self, seat: int) -> View:
        """A seat's view of the table now, or of an earlier table if a fault delays it."""
        table = self.faults.seen(seat, self.table)
        if self.rules.talk == 0:
            return see(table, seat, self.rules, self.seed)
        heard = hear(self.rules, self.seed, seat, self._latest, self._donor)
        wanted = len(self._exchanges) + 1 if self._talking else 0
        return see(table, seat, self.rules, self.seed, Talk(wanted, self.rules.talk, heard, self.said(seat)))

    @property
    def _talking(self) -> bool:
        """Whether messages are wanted before the actions."""
        return len(self._exchanges) < self.rules.talk

    def _begin_round(self) -> None:
        self.faults.begin_round(self.table)
        self._take_turns(self._first)

    @property
    def _first(self) -> tuple[int, ...]:
        """The seats that begin: all at once, or seat 0."""
        return self._seats if self.rules.order == "simultaneous" else (0,)

    def _take_turns(self, seats: tuple[int, ...]) -> None:
        self._moving = seats
        asked = tuple(seat for seat in seats if self.faults.asked(seat)) if self.faults.begun else seats
        self.to_speak, self.to_move = (asked, ()) if self._talking else ((), asked)
        if self._talking and not asked:
            self._take_messages(())

    def speak(self, messages: Sequence[str | None]) -> None:
        """Takes the messages of the seats to speak, in the order of `to_speak`; None and an empty string are silence.

        Raises:
            ValueError: Nobody is to speak, or there is not exactly one message per seat to speak.
        """
        if not self.to_speak or len(messages) != len(self.to_speak):
            raise ValueError(f"{len(messages)} messages came where {len(self.to_speak)} seats are to speak.")
        self._take_messages(messages)

    def _take_messages(self, messages: Sequence[str | None]) -> None:
        texts = dict(zip(self.to_speak, messages, strict=True))
        for seat in self._moving:
            text = texts.get(seat) or self._says(seat)
            said = Said(self.table.round, len(self._exchanges), as_message(text))
            self._latest[seat] = said
            self._exchange.append(said.text)
        if len(self._exchange) < self.rules.n:
            self._take_turns((len(self._exchange),))
            return
        self._exchanges.append(tuple(self._exchange))
        self._exchange = []
        self._take_turns(self._first)

    def _says(self, seat: int) -> str:
        """The message of a seat that was not asked, or that said nothing."""
        return "" if self.faults.asked(seat) else self.faults.says(seat, self.table.round)

    def move(self, readings: Sequence[Reading]) -> bool:
        """Takes the decisions of the seats to move, in the order of `to_move`.

        Returns:
            Whether this move closed a round.

        Raises:
            ValueError: The game is over, messages are wanted first, or there is not exactly one reading per seat to
                move.
        """
        if len(readings) != len(self.to_move) or self._talking or self.ended is not None:
            raise ValueError(f"{len(readings)} readings came where {len(self.to_move)} seats are to move.")
        readings = self._with_faults(readings)
        self.table = move(self.table, self._moving, readings, self._winner)
        self._codes += "".join([reading.code for reading in readings])
        if len(self._codes) < self.rules.n:
            self._take_turns((len(self._codes),))
            return False
        self.table = end_round(self.table, self.rules)
        self._rounds.append(self._codes)
        self._hashes.append(self.table.hash)
        self._codes = ""
        if self.rules.talk:
            self._messages.append(tuple(self._exchanges))
            self._exchanges = []
        if self.table.locked >= self.rules.patience:
            self.ended = DEADLOCK
        elif self.table.round > self.rules.rounds:
            self.ended = HORIZON
        if self.ended is None:
            self._begin_round()
        else:
            self.to_speak, self.to_move = (), ()
        return True

    def _with_faults(self, readings: Sequence[Reading]) -> Sequence[Reading]:
        """The readings of all seats in this move: the decisions of those asked, and the faults' actions."""
        if not self.faults.begun:
            return readings
        decided = iter(readings)
        return [
            next(decided) if self.faults.asked(seat) else self.faults.turn(seat, self.table) for seat in self._moving
        ]

    def fail(self, seat: int) -> None:
        """Crashes a seat in this round, as an unplanned fault that is added to the record's rules.

        Raises:
            ValueError: No seat without a fault would be left.
        """
        fault = Fault(seat, "crash", self.table.round)
        others = [known for known in self.rules.seat_faults if known.seat != seat]
        self.rules = replace(self.rules, faults=join_faults([*others, fault]))
        self.faults.add(fault, self.table.round)
        self._take_turns(self._moving)

    def record(self, unfinished: str = "unfinished") -> Record:
        """The record of the game up to the last whole round.

        Args:
            unfinished: Why a game that is not over stopped; its record is then `cut: <unfinished>`.
        """
        ended = self.ended or cut(unfinished)
        rounds, hashes, messages = tuple(self._rounds), tuple(self._hashes), tuple(self._messages)
        return Record(self.rules, self.seed, ended, rounds, hashes, messages, self._donor)

    def _winner(self, number: int, fork: int) -> int:
        return tie_winner(self.rules, self.seed, number, fork)


def retrace(record: Record) -> Iterator[tuple[int, View, Reading | str]]:
    """Plays a record again, turn by turn.

    Args:
        record: The record of a finished or cut game.

    Yields:
        The seat, its view, and what it did: its reading or, if a message was wanted, its message.
    """
    game = Game(record.rules, record.seed, record.donor)
    for number, codes in enumerate(record.rounds):
        while game.to_speak:
            views = [(seat, game.view(seat)) for seat in game.to_speak]
            exchange = views[0][1].talk.number - 1 if views[0][1].talk else 0
            said = record.messages[number][exchange]
            yield from [(seat, view, said[seat]) for seat, view in views]
            game.speak([said[seat] for seat, _ in views])
        closed = False
        while not closed:
            seats = game.to_move
            yield from [(seat, game.view(seat), READINGS[codes[seat]]) for seat in seats]
            closed = game.move([READINGS[codes[seat]] for seat in seats])
