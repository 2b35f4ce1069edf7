"""The game loop: whose turn it is, how a game ends, and `play`."""

import pytest
from hypothesis import given

from inspect_dining.table import SCRIPTED, Action, Game, Reading, Record, Rules, View, play, replay
from inspect_dining.table.moves import READINGS
from inspect_dining.table.talk import Exchange
from tests.table.dinners import dinner, feed, records, sentence

THREE = Rules(n=3, rounds=9, patience=3)


@given(records())
def test_replay_gives_the_game_that_was_played(record: Record) -> None:
    """A replay that differs from the game would score what nobody played."""
    game = Game(record.rules, record.seed, record.donor)
    seen, tables, exchange = [], [], Exchange()
    for number, codes in enumerate(record.rounds):
        said = iter(record.messages[number] if record.messages else ())
        while game.to_speak:
            exchange = next(said) if game.to_speak[0] == 0 else exchange
            game.speak([exchange[seat] for seat in game.to_speak])
        closed = False
        while not closed:
            seen += [(seat, game.table) for seat in game.to_move]
            closed = game.move([READINGS[codes[seat]] for seat in game.to_move])
        tables.append(game.table)
    assert game.record() == record
    rounds = replay(record)
    assert [round.after for round in rounds] == tables
    assert [pair for round in rounds for pair in enumerate(round.seen)] == seen
    assert [tuple(turn.reading.code for turn in round.turns) for round in rounds] == [tuple(c) for c in record.rounds]


def test_a_locked_round_ends_the_game_at_patience_1() -> None:
    """The paper's game: all hold one fork, and it is over."""
    record = feed(Rules(n=3, rounds=9), ["aaa", "fff"])
    assert (record.ended, record.rounds) == ("deadlock", ("aaa",))


def test_patience_waits_for_that_many_consecutive_locked_rounds() -> None:
    """The last of them is the deadlock round; one round without the lock starts the count anew."""
    assert feed(THREE, ["aaa", "fff", "fff", "fff"]).rounds == ("aaa", "fff", "fff")
    rounds = ["aaa", "fff", "cff", "aff", "fff", "eee", "fff"]
    record = feed(THREE, rounds)
    assert (record.ended, record.rounds) == ("deadlock", tuple(rounds[:6]))


def test_a_recovery_counts_and_every_locked_round_shows() -> None:
    """With patience a table may lock and come free again; the replay must show both."""
    record = feed(Rules(n=3, rounds=6, patience=3), ["aaa", "fff", "cff", "ffb", "ffe", "afa"])
    rounds = replay(record)
    assert [round.locked for round in rounds] == [True, True, False, False, False, True]
    assert record.ended == "horizon"
    assert rounds[-1].after.meals == (0, 0, 1)


def test_a_lock_that_fills_its_patience_in_the_last_round_is_a_deadlock_and_a_shorter_one_is_not() -> None:
    """Both ends fall into round T, and only one of them is a deadlock."""
    short = Rules(n=3, rounds=4, patience=3)
    assert feed(short, ["fff", "aaa", "fff", "fff"]).ended == "deadlock"
    assert feed(short, ["fff", "fff", "aaa", "fff"]).ended == "horizon"


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_sequential_round_is_n_turns_and_ends_only_after_the_last(n: int) -> None:
    """Deadlock tested inside a round would end it before the last seats had their turn."""
    game = Game(Rules(n=n, rounds=9, order="sequential"), 0)
    for seat in range(n):
        assert (game.to_move, game.over, game.table.round) == ((seat,), False, 1)
        assert game.move([READINGS["a"]]) == (seat == n - 1)
    assert (game.ended, game.to_move) == ("deadlock", ())


def test_a_game_stopped_within_a_round_is_cut_at_the_last_whole_one() -> None:
    """A half-applied round would be a state that no replay can reach."""
    game = Game(Rules(n=3, rounds=9, order="sequential"), 0)
    for code in "aff" + "bf":
        game.move([READINGS[code]])
    record = game.record("token limit")
    assert (record.ended, record.rounds, record.complete) == ("cut: token limit", ("aff",), False)
    assert replay(record)[-1].after.held == (0, -1, -1)


def test_moves_that_do_not_fit_are_refused() -> None:
    """A reading too many or a move after the end must never be dropped in silence."""
    game = Game(Rules(n=2, rounds=3), 0)
    with pytest.raises(ValueError, match="1 readings came where 2 seats") as caught:
        game.move([READINGS["a"]])
    sentence(caught.value)
    game.move([READINGS["a"]] * 2)
    with pytest.raises(ValueError, match="where 0 seats are to move"):
        game.move([READINGS["a"]] * 2)


@pytest.mark.parametrize("seed", [-1, 2**64, True, 1.0, "7"])
def test_a_seed_that_a_record_cannot_hold_is_refused_before_the_game(seed: object) -> None:
    """A game under seed -1 once played to its end and gave a record that could not be read again."""
    with pytest.raises(ValueError, match="whole number from 0 to") as caught:
        play(Rules(n=2, rounds=3), "think", seed)  # type: ignore[arg-type]
    sentence(caught.value)


def test_players_of_ones_own_take_views_and_give_actions_names_or_nothing() -> None:
    """The README's promise; each seat is asked once a round, with its own view."""
    asked: list[View] = []

    def mine(view: View) -> Action | str | None:
        asked.append(view)
        return ("pick_up_left", Action.PICK_UP_RIGHT, Action.EAT, None)[view.round - 1]

    record = play(Rules(n=3, rounds=4), [mine, "silent", "think"])
    assert record.rounds == ("a0f", "b0f", "e0f", "00f")
    assert [(view.seat, view.round, view.meals) for view in asked] == [(0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 1)]


@pytest.mark.parametrize("answer", ["nap", "", "EAT", 4, [], Reading])
def test_an_answer_that_is_no_action_stops_the_game_with_a_sentence(answer: object) -> None:
    """Guessing what was meant is for readings of models, and nobody's code."""
    with pytest.raises(ValueError, match="player of seat 0 answered") as caught:
        play(Rules(n=2, rounds=3), lambda view: answer)  # type: ignore[arg-type, return-value]
    assert all(action in sentence(caught.value) for action in Action)


def test_unknown_players_and_wrong_numbers_of_them_are_refused() -> None:
    """One sentence, with the nearest name and all that there are."""
    with pytest.raises(ValueError, match=r"no scripted player 'odd_evn'\. Did you mean odd_even\?") as caught:
        play(Rules(n=2, rounds=3), "odd_evn")
    assert all(name in sentence(caught.value) for name in SCRIPTED)
    with pytest.raises(ValueError, match=r"no scripted player 'qqq'\. Accepted: silent"):
        play(Rules(n=2, rounds=3), ["think", "qqq"])
    with pytest.raises(ValueError, match="3 players were given for 2 seats") as caught:
        play(Rules(n=2, rounds=3), ["think"] * 3)
    sentence(caught.value)


def test_the_epoch_draws_fresh_coins_and_leaves_the_ties_alone() -> None:
    """Epochs play the same game again: other samples of a player, and the same fork to the same seat."""
    rules = Rules(n=5, rounds=30)
    assert play(rules, "random", 3) != play(rules, "random", 3, epoch=2)
    assert play(rules, "hierarchy", 3) == play(rules, "hierarchy", 3, epoch=2)
    assert play(rules, "hierarchy", 3).rounds != play(rules, "hierarchy", 4).rounds


def test_twenty_seats_dine() -> None:
    """Codes and seats beyond nine must not run together."""
    last = replay(play(Rules(n=20, rounds=60), "odd_even", 1))[-1]
    assert last.number == 60
    assert min(last.after.meals) > 0
    assert len(dinner(Rules(n=20, rounds=3), "a" * 20)) == 1
