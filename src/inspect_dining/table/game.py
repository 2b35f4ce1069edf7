"""A game without input or output: it says whose turn it is and what they see, and takes what they decided.

    game = Game(rules, seed)
    while not game.over:
        readings = [decide(game.view(seat)) for seat in game.to_move]
        game.move(readings)
    record = game.record()

The dinner, `play` and the training rollouts all run this one loop; only who decides differs.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from inspect_dining.table.faults import Fault, join_faults
from inspect_dining.table.faulty_seats import FaultySeats
from inspect_dining.table.moves import ACTS, NO_CALL, Action, Reading
from inspect_dining.table.players import scripted
from inspect_dining.table.record import DEADLOCK, HORIZON, Record, cut
from inspect_dining.table.rules import Coin, Rules, check_seed, tie_winner
from inspect_dining.table.table import Table, end_round, move
from inspect_dining.table.view import View, see

Player = Callable[[View], Action | str | None]
"""A player of one's own: takes a `View` and gives an action, its name, or None for no call at all."""


class Game:
    """One game in progress.

    Attributes:
        rules: The rules of the game.
        seed: The episode's seed, which keys all ties.
        table: The table as the seats to move see it.
        to_move: The seats whose decision is wanted now: all of them, or one in sequential order; without those whose
            turn a fault takes (in sequential order perhaps none is left); none once over.
        ended: How the game ended (`deadlock` or `horizon`), or None while it goes on.
        faults: The faults of the game.
    """

    def __init__(self, rules: Rules, seed: int) -> None:
        """Lays an empty table.

        Raises:
            ValueError: The seed is not a whole number from 0 to 2**64 - 1.
        """
        self.rules = rules
        self.seed = check_seed(seed)
        self.table = Table.empty(rules.n)
        self.ended: str | None = None
        self.faults = FaultySeats(rules, seed)
        self._seats = tuple(range(rules.n))
        self._moving: tuple[int, ...] = ()
        self.to_move: tuple[int, ...] = ()
        self._rounds: list[str] = []
        self._hashes: list[str] = []
        self._codes = ""
        self._begin_round()

    @property
    def over(self) -> bool:
        """Whether the game has ended, by deadlock or at the horizon."""
        return self.ended is not None

    def view(self, seat: int) -> View:
        """What a seat sees of the table now, or of an earlier one where a fault delays it."""
        return see(self.faults.seen(seat, self.table), seat, self.rules)

    def _begin_round(self) -> None:
        self.faults.begin_round(self.table)
        self._take_turns(self._seats if self.rules.order == "simultaneous" else (0,))

    def _take_turns(self, seats: tuple[int, ...]) -> None:
        self._moving = seats
        self.to_move = tuple(seat for seat in seats if self.faults.asked(seat)) if self.faults.begun else seats

    def move(self, readings: Sequence[Reading]) -> bool:
        """Takes the decisions of the seats to move, in the order of `to_move`.

        Returns:
            Whether this move closed a round.

        Raises:
            ValueError: The game is over, or the number of readings is not that of the seats to move.
        """
        if len(readings) != len(self.to_move) or self.ended is not None:
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
        if self.table.locked >= self.rules.patience:
            self.ended = DEADLOCK
        elif self.table.round > self.rules.rounds:
            self.ended = HORIZON
        if self.ended is None:
            self._begin_round()
        else:
            self.to_move = ()
        return True

    def _with_faults(self, readings: Sequence[Reading]) -> Sequence[Reading]:
        """What all seats of this move do: those asked as they decided, the others as their fault has it."""
        if not self.faults.begun:
            return readings
        decided = iter(readings)
        return [
            next(decided) if self.faults.asked(seat) else self.faults.turn(seat, self.table) for seat in self._moving
        ]

    def fail(self, seat: int) -> None:
        """Lets a seat crash in this round, a fault that nobody planned; it joins the rules of the record.

        Raises:
            ValueError: No seat without a fault would be left.
        """
        fault = Fault(seat, "crash", self.table.round)
        others = [known for known in self.rules.seat_faults if known.seat != seat]
        self.rules = replace(self.rules, faults=join_faults([*others, fault]))
        self.faults.add(fault, self.table.round)
        self._take_turns(self._moving)

    def record(self, unfinished: str = "unfinished") -> Record:
        """The account of the game up to the last whole round.

        Args:
            unfinished: Why a game that is not over stopped; its record is then `cut: <unfinished>`.
        """
        ended = self.ended or cut(unfinished)
        return Record(self.rules, self.seed, ended, tuple(self._rounds), tuple(self._hashes))

    def _winner(self, number: int, fork: int) -> int:
        return tie_winner(self.rules, self.seed, number, fork)


def play(rules: Rules, players: str | Player | Sequence[str | Player], seed: int = 0, epoch: int = 1) -> Record:
    """Plays one game without any model.

    Args:
        rules: The rules of the game.
        players: One player for all seats, or one for each: the name of a scripted player, or a callable that takes a
            `View` and gives an `Action` (or its name), or None for no call at all.
        seed: The episode's seed, which keys ties and scripted coins.
        epoch: Keys scripted coins only, so that the same game can be played again with fresh coins.

    Returns:
        The record of the game.

    Raises:
        ValueError: An unknown player, the wrong number of players, a seed that is not a whole number from 0 to
            2**64 - 1, or a player's answer that is no action.
    """
    if not isinstance(rules, Rules):
        raise ValueError(f"play({rules!r}, ...) is not accepted: give the rules of the game, such as Rules(n=5).")
    seed = check_seed(seed)
    deciders = [_decider(player, seed, epoch) for player in _one_each(players, rules.n)]
    game = Game(rules, seed)
    while game.ended is None:
        game.move([deciders[seat](game.view(seat)) for seat in game.to_move])
    return game.record()


def _one_each(players: str | Player | Sequence[str | Player], n: int) -> list[str | Player]:
    if isinstance(players, str) or callable(players):
        return [players] * n
    given: object = players
    if not isinstance(given, Sequence) or not all(isinstance(one, str) or callable(one) for one in given):
        raise ValueError(
            f"players={players!r} is not accepted: give the name of a scripted player or a callable, or a list of them."
        )
    if len(players) != n:
        raise ValueError(f"{len(players)} players were given for {n} seats; give one for all, or one for each seat.")
    return list(players)


def _decider(player: str | Player, seed: int, epoch: int) -> Callable[[View], Reading]:
    if isinstance(player, str):
        decide, unused = scripted(player).decide, Coin()

        def by_rote(view: View) -> Reading:
            action = decide(view, unused)
            return NO_CALL if action is None else ACTS[action]

        def by_coin(view: View) -> Reading:
            action = decide(view, Coin(seed, epoch, view.round, view.seat))
            return NO_CALL if action is None else ACTS[action]

        return by_coin if scripted(player).tosses else by_rote

    def by_callable(view: View) -> Reading:
        answer = player(view)
        if answer is None:
            return NO_CALL
        try:
            return ACTS[Action(answer)]
        except ValueError:
            raise ValueError(
                f"The player of seat {view.seat} answered {answer!r}; "
                f"accepted: {', '.join(Action)}, or None for no call."
            ) from None

    return by_callable
