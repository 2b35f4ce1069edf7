"""A DPBench game without input or output: it gives whose reply is wanted and their views, and takes the replies.

    game = Game(rules, seed)
    while not game.over:
        texts = [decide(game.view(seat)) for seat in game.to_move]
        game.move([game.read(text) for text in texts])
    record = game.record()

In simultaneous order one round is one timestep: the rounds of messages, if any, then everyone's action. In sequential
order one round is a pass over the table, one action and timestep at a time.
"""

from collections.abc import Callable, Sequence

from inspect_dining.dpbench.reading import Reply, read, read_discussion, read_exact, read_exact_message
from inspect_dining.dpbench.record import DEADLOCK, HORIZON, Record, Round
from inspect_dining.dpbench.rules import DPBenchRules
from inspect_dining.dpbench.table import FREE, Action, Table, act, back_off, clear, step
from inspect_dining.dpbench.view import Snapshot, View
from inspect_dining.table.moves import Kind
from inspect_dining.table.record import cut
from inspect_dining.table.rules import Coin, check_seed

Player = Callable[[View], str]
"""A player: takes a `View` and returns the text of a reply."""


class Game:
    """One game in progress.

    Attributes:
        rules: The rules of the game.
        seed: The episode's seed, which keys ties, who begins a pass, and back-offs.
        table: The table seen by those to move.
        to_move: Those whose reply is wanted now; none once over.
        discussion: The current round of messages only, counted from 1; 0 when actions are wanted.
        ended: How the game ended (`deadlock` or `horizon`), or None while it goes on.
        deadlocks: The number of deadlocks; above one only if a deadlock does not end the game.
        order_of_pass: The order in which all act in this round, in sequential order.
        rounds: The whole rounds played.
    """

    def __init__(self, rules: DPBenchRules, seed: int) -> None:
        """Sets an empty table.

        Raises:
            ValueError: The seed is not a whole number from 0 to 2**64 - 1.
        """
        check_seed(seed)
        self.rules = rules
        self.seed = seed
        self.table = Table.empty(rules.n)
        self.discussion = 0
        self.ended: str | None = None
        self.deadlocks = 0
        self.rounds: list[Round] = []
        self.to_move: tuple[int, ...] = ()
        self._said: list[str | None] = [None] * rules.n
        self._shown = tuple(self._said)
        self._spoken: list[tuple[str | None, ...]] = []
        self.order_of_pass: tuple[int, ...] = ()
        self._replies: dict[int, Reply] = {}
        self._memory: tuple[Snapshot, ...] = ()
        self._held = (0,) * rules.n
        self._open_round()

    @property
    def over(self) -> bool:
        """Whether the game has ended, by deadlock or at the horizon."""
        return self.ended is not None

    @property
    def number(self) -> int:
        """The round being played, counted from 1."""
        return len(self.rounds) + 1

    def view(self, seat: int) -> View:
        """A philosopher's current view."""
        rules, table, n = self.rules, self.table, self.rules.n
        heard = self._shown if self._stale else self._said
        beyond = (seat + 1) % n
        return View(
            seat=seat,
            n=n,
            eating=table.eating[seat],
            meals=table.meals[seat],
            left_available=table.forks[seat] in (FREE, seat),
            right_available=table.forks[beyond] in (FREE, seat),
            holds_left=table.left[seat],
            holds_right=table.right[seat],
            talking=rules.communication,
            left_message=(heard[seat - 1] or None) if rules.communication else None,
            right_message=(heard[beyond] or None) if rules.communication else None,
            discussion=self.discussion,
            discussions=rules.discussions,
            memory=() if self.discussion else self._memory,
        )

    @property
    def _stale(self) -> bool:
        """Whether what is shown was written before the last round of messages, as in dpbench 0.2.1."""
        return self.rules.exact and self.rules.discussions > 0 and self.discussion == 0

    def read(self, text: str, *, cut: bool = False, refused: bool = False) -> Reply:
        """Reads a reply by the corrected reading or by that of dpbench 0.2.1.

        Args:
            text: The reply's text.
            cut: Whether the token limit cut it.
            refused: Whether the provider refused to answer.
        """
        if self.discussion:
            said = read_exact_message(text) if self.rules.exact else read_discussion(text, refused=refused)
            return Reply(Kind.ACTION, Action.WAIT, said)
        if not self.rules.exact:
            reply = read(text, cut=cut, refused=refused)
            return reply if self.rules.communication else Reply(reply.kind, reply.action)
        return Reply(Kind.ACTION, read_exact(text), read_exact_message(text) if self.rules.communication else None)

    def move(self, replies: Sequence[Reply]) -> bool:
        """Takes the replies of those to move, in the order of `to_move`.

        Returns:
            Whether this move closed a round.

        Raises:
            ValueError: The game is over, or there is not exactly one reply per philosopher to move.
        """
        if len(replies) != len(self.to_move) or self.ended is not None:
            raise ValueError(f"{len(replies)} replies came where {len(self.to_move)} philosophers are to move.")
        if self.discussion:
            self._discuss(replies)
            return False
        for seat, reply in zip(self.to_move, replies, strict=True):
            self._replies[seat] = reply
        if self.rules.simultaneous:
            actions = [reply.action for reply in replies]
            self.table = step(self.table, actions, self._winner, self.rules.exact)
            self._hear({seat: reply.message for seat, reply in self._replies.items()})
        else:
            (seat,) = self.to_move
            self.table = act(self.table, seat, replies[0].action)
            self._hear({seat: replies[0].message})
            if len(self._replies) < self.rules.n:
                self.to_move = (self.order_of_pass[len(self._replies)],)
                return False
        self._close_round()
        return True

    def record(self, unfinished: str = "unfinished") -> Record:
        """The record of the game up to the last whole round.

        Args:
            unfinished: Why a game that is not over stopped; its record is then `cut: <unfinished>`.
        """
        return Record(self.rules, self.seed, self.ended or cut(unfinished), tuple(self.rounds))

    def _discuss(self, replies: Sequence[Reply]) -> None:
        said = tuple(reply.message for reply in replies)
        self._spoken.append(said)
        self._shown, self._said = tuple(self._said), list(said)
        self.discussion = self.discussion + 1 if self.discussion < self.rules.discussions else 0

    def _hear(self, said: dict[int, str | None]) -> None:
        """Publishes the messages sent with actions; in dpbench 0.2.1 silence leaves an old message in place."""
        for seat, message in said.items():
            if message is not None or not self.rules.exact:
                self._said[seat] = message

    def _open_round(self) -> None:
        n = self.rules.n
        self._replies, self._spoken = {}, []
        self.discussion = 1 if self.rules.discussions else 0
        first = 0
        if not self.rules.simultaneous and not self.rules.exact:
            first = int(Coin("first", self.seed, self.number).random() * n)
        self.order_of_pass = tuple((first + place) % n for place in range(n))
        self.to_move = self.order_of_pass if self.rules.simultaneous else self.order_of_pass[:1]

    def _close_round(self) -> None:
        rules = self.rules
        if rules.backoff_threshold and not rules.exact:
            self.table, self._held = back_off(self.table, self._held, rules.backoff_threshold, self._lets_go)
        deadlocked = self.table.deadlocked
        if deadlocked:
            self.deadlocks += 1
            if not rules.terminal:
                self.table = clear(self.table)
        replies = [self._replies[seat] for seat in range(rules.n)]
        self.rounds.append(
            Round(
                "".join(reply.code for reply in replies),
                (*self._spoken, tuple(reply.message for reply in replies)) if rules.communication else (),
                self.table.hash,
            )
        )
        if rules.memory:
            self._memory = (*self._memory, Snapshot.of(self.table, deadlocked))[-rules.memory :]
        if deadlocked and rules.terminal:
            self.ended = DEADLOCK
        elif self.table.timestep >= rules.timesteps:
            self.ended = HORIZON
        if self.ended is None:
            self._open_round()
        else:
            self.to_move = ()

    def _winner(self, fork: int, seats: Sequence[int]) -> int:
        if self.rules.exact:
            return seats[0]
        return Coin("tie", self.seed, self.table.timestep + 1, fork).choice(seats)

    def _lets_go(self, seat: int) -> bool:
        coin = Coin("back off", self.seed, self.table.timestep, seat)
        return coin.random() < self.rules.backoff_probability


def play(rules: DPBenchRules, players: Player | Sequence[Player], seed: int = 0) -> Record:
    """Plays one game without a model.

    Args:
        rules: The rules of the game.
        players: One player for all seats, or one per seat; each returns the text of its reply.
        seed: The episode's seed.

    Raises:
        ValueError: The number of players is wrong, or the seed is not an episode seed.
    """
    each = [players] * rules.n if callable(players) else list(players)
    if len(each) != rules.n:
        raise ValueError(f"{len(each)} players were given for {rules.n} philosophers; give one for all, or one each.")
    game = Game(rules, seed)
    while game.ended is None:
        game.move([game.read(each[seat](game.view(seat))) for seat in game.to_move])
    return game.record()


def replay(record: Record) -> "Replay":
    """Plays a record again.

    Raises:
        ValueError: The record does not replay to the states that it claims.
    """
    return Replay(record)


class Replay:
    """A replayed record.

    Attributes:
        record: The record.
        tables: The table before the first round and after every one.
        deadlocks: The number of deadlocks.
    """

    def __init__(self, record: Record) -> None:
        """Replays the record.

        Raises:
            ValueError: The record does not replay to the states that it claims.
        """
        self.record = record
        game = Game(record.rules, record.seed)
        self.tables = [game.table]
        for number, claimed in enumerate(record.rounds, 1):
            if game.over:
                raise ValueError(f"This record goes on after its game ended in round {number - 1}.")
            closed = False
            while not closed:
                replies = [claimed.reply(seat, game.discussion) for seat in game.to_move]
                closed = game.move(replies)
            if game.rounds[-1].hash != claimed.hash:
                raise ValueError(
                    f"This record does not replay: after round {number} the table's hash is {game.rounds[-1].hash}, "
                    f"and the record says {claimed.hash}."
                )
            self.tables.append(game.table)
        if (record.ended if record.complete else None) != game.ended:
            raise ValueError(
                f"This record says that it ended by {record.ended!r}, but its replay ends by {game.ended or 'nothing'}."
            )
        self.deadlocks = game.deadlocks
