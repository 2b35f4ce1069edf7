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
from inspect_dining.table.talk import Messages, Talk, as_message
from inspect_dining.table.view import Hands

PICK_UPS = (Action.PICK_UP_LEFT, Action.PICK_UP_RIGHT)
TURNS: list[Turn] = [
    *DONE_TURNS.values(),
    *LOST_TURNS.values(),
    *(turn for turn in TIE_TURNS.values() if turn.reading.action in PICK_UPS),
    *(turn for turns in VAIN_TURNS.values() for turn in turns.values()),
]
"""Every turn that a seat can be told of, and some that the game never gives."""


def feed(rules: Rules, rounds: Sequence[str], seed: int = 0, messages: Messages = (), donor: Messages = ()) -> Record:
    """The record of a game played by these codes, until they run out or the game is over.

    Where no messages are given and there is talk, every seat says its number, the exchange and the round.
    """
    game = Game(rules, seed, donor)
    for codes in rounds:
        if game.over:
            break
        number = game.table.round
        while game.to_speak:
            talk = game.view(game.to_speak[0]).talk
            exchange = talk.number - 1 if talk else 0
            said = messages[number - 1][exchange] if messages else [f"{s} {exchange} {number}" for s in range(rules.n)]
            game.speak([said[seat] for seat in game.to_speak])
        closed = False
        while not closed:
            closed = game.move([READINGS[codes[seat]] for seat in game.to_move])
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


@st.composite
def rules(draw: st.DrawFn, max_n: int = 6, max_rounds: int = 10) -> Rules:
    """Any rules of a small game."""
    numbers = {"n": st.integers(2, max_n), "rounds": st.integers(3, max_rounds), "patience": st.integers(1, 3)}
    words = {name: st.sampled_from(accepted) for name, accepted in OPTIONS.items()}
    options = {name: draw(values) for name, values in {**numbers, "talk": st.integers(0, 2), **words}.items()}
    if not options["talk"]:
        options["talk_control"] = "none"
    return Rules(**options)  # type: ignore[arg-type]  # drawn from what each option accepts


def codes(n: int) -> st.SearchStrategy[str]:
    """One round: any readings, and more often those that lead to meals and locks."""
    return st.lists(st.sampled_from("aaaaabbbbbeeeeeeecd" + "".join(READINGS)), min_size=n, max_size=n).map("".join)


TEXTS = st.sampled_from(["", "I take left.", "Round 3: I will eat.", "said nothing.", "said: x", "✓ | <b>"]) | st.text(
    max_size=9
).map(as_message)
"""Messages as they are heard."""


@st.composite
def messages(draw: st.DrawFn, rules: Rules) -> Messages:
    """What was said in a game: a few different exchanges in any order."""
    if not rules.talk:
        return ()
    pool = draw(st.lists(st.tuples(*[TEXTS] * rules.n), min_size=1, max_size=3))
    picks = draw(st.lists(st.sampled_from(pool), min_size=9, max_size=9))
    return tuple(tuple(picks[(r * rules.talk + e) % 9] for e in range(rules.talk)) for r in range(rules.rounds))


@st.composite
def records(draw: st.DrawFn, full: bool = False) -> Record:
    """The record of a game under any rules; one that ended if `full`, else perhaps a cut one."""
    chosen = draw(rules())
    least = chosen.rounds if full else 0
    rounds = draw(st.lists(codes(chosen.n), min_size=least, max_size=chosen.rounds))
    said, other = draw(messages(chosen)), draw(messages(chosen))
    donor = other[: draw(st.integers(1, chosen.rounds))] if chosen.talk_control == "shuffled" else ()
    return feed(chosen, rounds, draw(st.integers(0, 2**64 - 1)), said, donor)


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
def views(draw: st.DrawFn, hidden: bool = True) -> View:
    """Any view; without a seat number only if it may be `hidden`."""
    n, rounds = draw(st.integers(2, 40)), draw(st.integers(3, 10**6))
    return View(
        seat=draw(st.none() | st.integers(0, n - 1)) if hidden else draw(st.integers(0, n - 1)),
        n=n,
        round=draw(st.integers(1, rounds)),
        rounds=rounds,
        left=draw(st.sampled_from(Fork)),
        right=draw(st.sampled_from(Fork)),
        meals=draw(st.integers(0, 10**6)),
        last=draw(st.none() | st.sampled_from(TURNS)),
        parity=draw(st.sampled_from((None, "even", "odd"))),
        coin=draw(st.none() | st.integers(0, 999)),
        neighbours=draw(st.none() | st.tuples(st.sampled_from(Hands), st.sampled_from(Hands))),
        talk=draw(st.none() | talks()),
    )


@st.composite
def talks(draw: st.DrawFn) -> Talk:
    """Any talk that a seat may know of."""
    of = draw(st.integers(1, 9))
    return Talk(draw(st.integers(0, of)), of, (draw(TEXTS), draw(TEXTS)), draw(TEXTS))
