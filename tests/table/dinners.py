"""Games for the tests: strategies that draw them, and a way to write one down.

A round is written as in a record, one code a seat: a picks up left, b picks up right, c puts down left, d puts down
right, e eats, f thinks, 0 says nothing.
"""

from collections.abc import Sequence

from hypothesis import strategies as st

from inspect_dining.table import Fork, Game, Record, Round, Rules, Table, Turn, View, replay
from inspect_dining.table.moves import DONE_TURNS, LOST_TURNS, READINGS, TIE_TURNS, VAIN_TURNS, Action
from inspect_dining.table.rules import OPTIONS
from inspect_dining.table.table import FREE

PICK_UPS = (Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT)
TURNS: list[Turn] = [
    *DONE_TURNS.values(),
    *LOST_TURNS.values(),
    *(turn for turn in TIE_TURNS.values() if turn.reading.action in PICK_UPS),
    *(turn for turns in VAIN_TURNS.values() for turn in turns.values()),
]
"""Every turn that a seat can be told of, and some that the game never gives."""


def feed(rules: Rules, rounds: Sequence[str], seed: int = 0) -> Record:
    """The record of a game played by these codes, until they run out or the game is over."""
    game = Game(rules, seed)
    for codes in rounds:
        while not game.over and not game.move([READINGS[codes[seat]] for seat in game.to_move]):
            pass
    return game.record()


def dinner(rules: Rules, *rounds: str, seed: int = 0) -> tuple[Round, ...]:
    """The replay of a game played by these codes."""
    return replay(feed(rules, rounds, seed))


def sentence(error: BaseException) -> str:
    """The message of an error, which must be one line that ends like a sentence."""
    message = str(error)
    assert message.endswith(".")
    assert "\n" not in message
    return message


def rules(max_n: int = 6, max_rounds: int = 10) -> st.SearchStrategy[Rules]:
    """Any rules of a small game."""
    words = {name: st.sampled_from(accepted) for name, accepted in OPTIONS.items()}
    return st.builds(
        Rules, n=st.integers(2, max_n), rounds=st.integers(3, max_rounds), patience=st.integers(1, 3), **words
    )


def codes(n: int) -> st.SearchStrategy[str]:
    """One round: any readings, and more often those that lead to meals and locks."""
    return st.lists(st.sampled_from("aaaaabbbbbeeeeeeecd" + "".join(READINGS)), min_size=n, max_size=n).map("".join)


@st.composite
def records(draw: st.DrawFn, full: bool = False) -> Record:
    """The record of a game under any rules; one that ended if `full`, else perhaps a cut one."""
    chosen = draw(rules())
    least = chosen.rounds if full else 0
    rounds = draw(st.lists(codes(chosen.n), min_size=least, max_size=chosen.rounds))
    return feed(chosen, rounds, draw(st.integers(0, 2**64 - 1)))


@st.composite
def tables(draw: st.DrawFn, max_n: int = 6) -> Table:
    """Any table on which each fork is free or held by one of its two seats."""
    n = draw(st.integers(2, max_n))
    held = tuple(draw(st.sampled_from((FREE, fork, (fork - 1) % n))) for fork in range(n))
    spent = tuple(holder != FREE and draw(st.booleans()) for holder in held)
    meals = tuple(draw(st.lists(st.integers(0, 99), min_size=n, max_size=n)))
    last = tuple(draw(st.lists(st.none() | st.sampled_from(TURNS), min_size=n, max_size=n)))
    return Table(draw(st.integers(1, 99)), held, spent, meals, draw(st.integers(0, 3)), last)


@st.composite
def views(draw: st.DrawFn) -> View:
    """Any view."""
    n, rounds = draw(st.integers(2, 40)), draw(st.integers(3, 10**6))
    return View(
        seat=draw(st.integers(0, n - 1)),
        n=n,
        round=draw(st.integers(1, rounds)),
        rounds=rounds,
        left=draw(st.sampled_from(Fork)),
        right=draw(st.sampled_from(Fork)),
        meals=draw(st.integers(0, 10**6)),
        last=draw(st.none() | st.sampled_from(TURNS)),
        hint=draw(st.sampled_from(("none", "parity"))),
    )
