"""Faults as a rule of the game: how they are written, what they do, and that a record proves it."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.scorers.terms import terms
from inspect_dining.table import SCRIPTED, Action, Fork, Game, Record, Rules, View, play, replay, see
from inspect_dining.table.faults import Fault
from inspect_dining.table.game import retrace
from inspect_dining.table.moves import NO_CALL, READINGS
from inspect_dining.table.narration import account, round_card
from inspect_dining.table.players.talkers import announced
from inspect_dining.table.rules import Order
from inspect_dining.table.talk import Heard
from tests.table.dinners import sentence

KINDS = ("silent", "crash", "hog", "random", "delayed=2", "liar")


def faults(n: int, rounds: int, talk: int) -> st.SearchStrategy[str]:
    """Faults of some seats, at least one seat left without; liars where there is talk."""
    kinds = KINDS if talk else KINDS[:-1]
    one = st.tuples(st.sampled_from(kinds), st.integers(1, rounds).map(str) | st.just("first_fork"))
    some = st.dictionaries(st.integers(0, n - 1), one, max_size=n - 1)
    return some.map(lambda found: ",".join(f"{seat}:{kind}@{begins}" for seat, (kind, begins) in found.items()))


@st.composite
def faulty_games(draw: st.DrawFn) -> Record:
    n, rounds, talk = draw(st.integers(2, 6)), draw(st.integers(3, 14)), draw(st.integers(0, 2))
    rules = Rules(
        n,
        rounds,
        order=draw(st.sampled_from(("simultaneous", "sequential"))),
        release=draw(st.sampled_from(("auto", "manual"))),
        patience=draw(st.integers(1, 3)),
        talk=talk,
        faults=draw(faults(n, rounds, talk)),
    )
    players = draw(st.lists(st.sampled_from(list(SCRIPTED)), min_size=n, max_size=n))
    return play(rules, players, draw(st.integers(0, 2**64 - 1)))


@given(faulty_games())
def test_a_game_with_faults_reads_back_replays_and_is_played_the_same_again(record: Record) -> None:
    back = Record.from_json(record.to_json())
    assert back == record
    assert replay(back) == replay(record)
    game = Game(record.rules, record.seed)
    for codes, exchanges in zip(record.rounds, record.messages or ((),) * len(record.rounds), strict=True):
        closed = False
        while not closed:
            while game.to_speak:
                talk = game.view(game.to_speak[0]).talk
                assert talk is not None
                game.speak([exchanges[talk.number - 1][seat] for seat in game.to_speak])
            closed = game.move([READINGS[codes[seat]] for seat in game.to_move])
    assert game.record() == record


@given(faulty_games())
def test_each_kind_does_what_it_says(record: Record) -> None:
    begun: dict[int, int] = {}
    for number, round in enumerate(replay(record)):
        for seat in round.faulty:
            begun.setdefault(seat, round.number)
        for fault in record.rules.seat_faults:
            seat, before = fault.seat, round.before
            due = before.in_hand(seat) > 0 if fault.begins == "first_fork" else fault.begins == round.number
            assert (seat in round.faulty) == (seat in begun)
            assert seat in begun or not due
            if seat not in begun:
                continue
            reading, held = round.turns[seat].reading, round.seen[seat].in_hand(seat)
            if fault.kind == "crash":
                assert reading is NO_CALL
            elif fault.kind == "silent":
                assert reading is NO_CALL or str(reading.action).startswith("put_down")
                assert round.number < begun[seat] + 2 or round.after.in_hand(seat) == 0
            elif fault.kind == "hog":
                assert not str(reading.action).startswith("put_down") or record.rules.release == "manual"
                if held == 2 and record.rules.release == "auto":
                    assert reading.action == "eat"
            elif fault.kind == "liar":
                said = {announced(exchange[seat]) for exchange in round.exchanges}
                assert len(said) == 1
                assert None not in said
                assert reading.action not in said
                assert reading.action is not None
            elif fault.kind == "delayed":
                then = number - fault.delay
                assert (seat in round.forced) == (then < 0)
                assert reading is NO_CALL if then < 0 else round.seen[seat] == replay(record)[then].before


@given(faulty_games(), st.data())
def test_a_record_whose_faulty_seat_does_something_else_is_refused(record: Record, data: st.DataObject) -> None:
    """A log that claims a crash, and lets the crashed seat eat, must not be scored as one."""
    places = [(number, seat) for number, round in enumerate(replay(record)) for seat in round.forced]
    if not places:
        return
    number, seat = data.draw(st.sampled_from(places))
    plain = json.loads(record.to_json())
    codes = plain["rounds"][number]
    other = data.draw(st.sampled_from([code for code in READINGS if code != codes[seat]]))
    plain["rounds"][number] = codes[:seat] + other + codes[seat + 1 :]
    with pytest.raises(ValueError, match="does not replay"):
        replay(Record.from_dict(plain))


@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
def test_a_liar_is_believed_by_its_neighbours_and_never_asked(order: Order) -> None:
    """What it says must reach them as anybody's words do, in every message, and follow from the seed alone."""
    rules = Rules(n=3, rounds=9, order=order, talk=2, faults="1:liar@4")
    heard: list[tuple[int, str]] = []

    def talker(view: View, words: Heard) -> str:
        heard.append((view.round, words[0 if view.seat == 2 else 1]))
        return "Good day."

    record = play(rules, "odd_even", 5, talkers=talker)
    lies = [round.exchanges[1][1] for round in replay(record)]
    assert lies[:3] == ["Good day."] * 3
    assert len(set(lies[3:])) > 2
    assert {lie for number, lie in heard if number == 9} & set(lies[7:])
    assert not any(seat == 1 and view.round > 3 for seat, view, _ in retrace(record))
    assert record == play(rules, "odd_even", 5, talkers=talker)
    other = play(rules, "odd_even", 6, talkers=talker)
    assert [round.exchanges[1][1] for round in replay(other)] != lies
    spoken = list(record.messages)
    spoken[8] = (spoken[8][0], (spoken[8][1][0], "", spoken[8][1][2]))
    with pytest.raises(ValueError, match="in round 9 whose fault has it say 'Round 9: I will"):
        replay(replace(record, messages=tuple(spoken)))


def test_what_a_liar_announces_and_does_is_any_pair_of_different_actions() -> None:
    """One that always announced the same would be found out, and one that did the same would be another kind."""
    rules, pairs = Rules(n=2, rounds=30, talk=1, patience=99, faults="0:liar"), set()
    for seed in range(12):
        for round in replay(play(rules, "think", seed)):
            pairs.add((announced(round.exchanges[0][0]), round.turns[0].reading.action))
    assert pairs == {(said, done) for said in Action for done in Action if said is not done}


@given(faulty_games())
def test_turns_that_a_fault_took_count_for_nobody(record: Record) -> None:
    found = terms(record)
    forced = sum(len(round.forced) for round in replay(record))
    assert found.turns == record.rules.n * found.played - forced
    assert found.lost_count + found.thinks <= found.turns


def test_a_faulty_seat_is_not_asked_and_a_delayed_one_sees_an_old_table() -> None:
    seen: list[View] = []

    def watch(view: View) -> str:
        seen.append(view)
        return "think"

    record = play(Rules(n=3, rounds=8, faults="1:delayed=2@4,2:crash@3"), ["wave", watch, watch])
    mine = [view.round for view in seen if view.seat == 1]
    assert mine == [1, 2, 3, 2, 3, 4, 5, 6]
    assert [view.round for view in seen if view.seat == 2] == [1, 2]
    assert all(see(round.seen[1], 1, record.rules) in seen for round in replay(record))


def test_faults_are_written_in_one_way_and_left_out_where_there_are_none() -> None:
    rules = Rules(n=5, faults=" 4:crash@first_fork, 2:silent@1 ")
    assert rules.faults == "2:silent,4:crash@first_fork"
    assert rules.seat_faults == (Fault(2, "silent"), Fault(4, "crash", "first_fork"))
    assert rules == Rules(n=5, faults="2:silent@1,4:crash@first_fork")
    assert "faults" not in Rules(n=5, faults="").options()
    assert (Rules(n=5).version, rules.version) == (1, 2)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2", "cannot be read; it is written SEAT:KIND@BEGINS"),
        ("2:silent@", "cannot be read"),
        ("5:silent", "names seat 5; the seats of a table of 5 are 0 to 4"),
        ("2:slient", "no kind of fault 'slient'. Did you mean silent? Accepted: silent, crash"),
        ("2:silent@0", "begins in round 0; rounds 1 to 30 are accepted"),
        ("2:silent@31", "begins in round 31"),
        ("2:crash@first_meal", "begins at 'first_meal'; a round or first_fork is accepted"),
        ("2:delayed", "delayed takes a number of rounds"),
        ("2:hog=3", "delayed takes a number of rounds"),
        ("2:liar@4", "The fault '2:liar@4' announces what it does not do, so it needs talk=1 or more"),
        ("2:delayed=30", "delays by 30 rounds; 1 to 29 are accepted"),
        ("2:silent,2:hog", "gives seat 2 two faults"),
        ("0:hog,1:hog,2:hog,3:hog,4:hog", "leaves none of the 5 seats without a fault"),
    ],
)
def test_a_fault_that_is_not_accepted_is_refused_in_a_sentence(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)) as caught:
        Rules(n=5, faults=text)
    assert sentence(caught.value)


def test_faults_stand_in_the_card_of_a_round_and_in_the_account() -> None:
    record = play(Rules(n=5, rounds=12, faults="2:crash@2,4:hog@11"), "left_first")
    locked = replay(play(Rules(n=5, rounds=12, patience=9, faults="2:crash@2"), "left_first"))
    told = round_card(
        Rules(n=5, rounds=12, patience=9, faults="2:crash@2"), locked[3].before, locked[3].after, locked[3].faulty
    )
    assert "crash: nothing" in told
    assert "Fault: philosopher 4 hog, which never began." in account(record)
    odd = account(play(Rules(n=5, rounds=12, faults="2:crash@2"), "odd_even"))
    assert "Fault: philosopher 2 crash, since round 2." in odd


def test_a_seat_that_fails_crashes_from_that_round_on_and_the_record_says_so() -> None:
    game = Game(Rules(n=3, rounds=6), 1)
    game.move([READINGS[code] for code in "aff"])
    game.fail(0)
    assert game.to_move == (1, 2)
    while not game.over:
        game.move([READINGS["f"]] * len(game.to_move))
    record = game.record()
    assert record.rules.faults == "0:crash@2"
    assert record.rounds[1:] == ("0ff",) * 5
    assert replay(Record.from_json(record.to_json()))[-1].after.in_hand(0) == 1
    game = Game(Rules(n=2, rounds=6, faults="0:hog"), 1)
    with pytest.raises(ValueError, match="leaves none of the 2 seats without a fault"):
        game.fail(1)


REFERENCE = {
    "silent": {"wave": (0.82, 0.0), "odd_even": (0.64, 0.0), "hierarchy": (0.61, 0.0), "lehmann_rabin": (0.59, 0.0)},
    "crash": {
        "wave": (0.61, 0.0),
        "hierarchy": (0.46, 0.0),
        "odd_even": (0.38, 0.0),
        "lehmann_rabin": (0.31, 0.43),
        "backoff": (0.0, 1.0),
    },
    "hog": {"wave": (0.85, 0.0), "odd_even": (0.73, 0.0), "hierarchy": (0.51, 0.0)},
}
"""Efficiency and share of deadlocks with one faulty seat of five, by another implementation."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kind", "player"), [(kind, player) for kind in REFERENCE for player in REFERENCE[kind]])
def test_the_reference_figures_of_a_faulty_seat_are_reproduced(kind: str, player: str) -> None:
    """Seat 0 is faulty; the crashed one takes its left fork as soon as it can, and crashes with it."""
    rules = Rules(n=5, rounds=30, faults={"silent": "0:silent", "crash": "0:crash@first_fork", "hog": "0:hog"}[kind])
    players = ["left_first" if kind == "crash" else player, *[player] * 4]
    found = [terms(play(rules, players, seed)) for seed in range(40)]
    efficiency, deadlock = REFERENCE[kind][player]
    mean = sum(t.efficiency for t in found) / len(found)
    locked = sum(t.deadlocked for t in found) / len(found)
    share = (deadlock * 120 + locked * 40 + 1) / 162
    assert abs(mean - efficiency) < 0.005 + 3 * 0.16 * (1 / 40 + 1 / 120) ** 0.5 * (
        1.0 if player == "lehmann_rabin" else 0.4
    )
    assert abs(locked - deadlock) < 3 * (share * (1 - share) * (1 / 40 + 1 / 120)) ** 0.5


def test_where_a_fork_is_free_a_hog_takes_it() -> None:
    record = play(Rules(n=4, rounds=20, faults="1:hog@3"), "wave", 4)
    for round in replay(record)[2:]:
        view = see(round.before, 1, record.rules)
        if Fork.FREE in (view.left, view.right) and round.before.in_hand(1) < 2:
            assert str(round.turns[1].reading.action).startswith("pick_up")
