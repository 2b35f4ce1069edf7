"""Talk: who hears what and when, what a placebo is, and what words alone can do."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.table import SCRIPTED, Action, Record, Rules, View, best_meals, play, replay
from inspect_dining.table.game import Game, retrace
from inspect_dining.table.players.playing import Player
from inspect_dining.table.players.talkers import announced
from inspect_dining.table.rules import Order
from inspect_dining.table.talk import MESSAGE_LIMIT, Heard, as_message
from tests.table.dinners import records, sentence

TALKERS = [name for name, player in SCRIPTED.items() if player.say is not None]


def meals(record: Record) -> int:
    """Meals of the whole table."""
    return sum(replay(record)[-1].after.meals)


@given(records())
def test_a_message_is_heard_before_the_next_and_before_the_action_and_silence_clears_it(record: Record) -> None:
    """In DPBench an old message stays for ever once its sender falls silent, and the last of a round is never seen."""
    if not record.rules.talk or record.rules.talk_control != "none":
        return
    n, latest = record.rules.n, [""] * record.rules.n
    pending: dict[int, str] = {}
    for seat, view, done in retrace(record):
        if record.rules.order == "sequential" or seat == 0:
            latest = [pending.get(i, text) for i, text in enumerate(latest)]
            pending = {}
        assert view.talk is not None
        assert view.talk.heard == (latest[(seat - 1) % n], latest[(seat + 1) % n])
        assert view.talk.said == latest[seat]
        assert (view.talk.number > 0) == isinstance(done, str)
        if isinstance(done, str):
            pending[seat] = done


@pytest.mark.parametrize(("order", "talk"), list(product(get_args(Order), (1, 2, 3))))
def test_all_messages_of_a_round_come_before_its_first_action(order: Order, talk: int) -> None:
    """Whoever acts knows the last message of both neighbours, also the seat that acts first."""
    record = play(Rules(4, 5, order=order, talk=talk), "announce_yield", 3)
    for number in range(1, 1 + len(record.rounds)):
        asked = [view.talk.number for _, view, _ in retrace(record) if view.round == number and view.talk]
        assert asked == [*(e for e in range(1, talk + 1) for _ in range(4)), 0, 0, 0, 0]
    acts = [(seat, view) for seat, view, done in retrace(record) if not isinstance(done, str)]
    for seat, view in acts:
        last = record.messages[view.round - 1][-1]
        assert view.talk is not None
        assert view.talk.heard == (last[(seat - 1) % 4], last[(seat + 1) % 4])


@given(records())
def test_under_the_placebo_every_message_is_of_another_round_of_the_other_game(record: Record) -> None:
    """A message of the same round could still help; one of the wrong exchange would give the placebo away."""
    if record.rules.talk_control != "shuffled":
        return
    for _, view, _ in retrace(record):
        assert view.talk is not None
        number, exchange = (view.round, view.talk.number - 2) if view.talk.number else (view.round, view.rounds)
        if view.talk.number == 1 or record.rules.order == "sequential":
            continue  # these may still be of the round before
        exchange = record.rules.talk - 1 if view.talk.number == 0 else exchange
        others = [exchanges[exchange] for place, exchanges in enumerate(record.donor, 1) if place != number]
        assert set(view.talk.heard) <= {text for said in others for text in said} | ({""} if not others else set())


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "order", "talk"), list(product(TALKERS, get_args(Order), (1, 2, 4))))
def test_under_the_placebo_a_talker_falls_to_its_silent_level(name: str, order: Order, talk: int) -> None:
    """Words help because of what they say, and not because a prompt with words is longer."""
    rules = Rules(5, 20, order=order, talk=talk, talk_control="shuffled")
    for seed in range(6):
        silent = play(replace(rules, talk=0, talk_control="none"), name, seed)
        assert play(rules, name, seed).rounds == silent.rounds
    talked = [meals(play(replace(rules, talk_control="none"), name, seed)) for seed in range(6)]
    assert sum(talked) > sum(meals(play(rules, name, seed)) for seed in range(6))


BY_WORDS = [
    ("turn_taking", 1, dict.fromkeys((2, 3, 4, 5, 6), 1.0)),
    ("announce_yield", 2, {2: 1.0, 3: 1.0, 5: 1.0, 10: 0.89, 15: 0.85}),
    ("leader_election", 5, {2: 1.0, 3: 1.0, 5: 1.0}),
    ("leader_election", 15, {10: 1.0, 15: 1.0}),
]


@pytest.mark.parametrize(("name", "talk", "least"), BY_WORDS)
def test_words_alone_reach_the_optimum_or_nearly(name: str, talk: int, least: dict[int, float]) -> None:
    """The scale for models that talk: at five seats each way of talking reaches all 28 meals of 30 rounds."""
    for n, share in least.items():
        record = play(Rules(n, 30, talk=talk), name, n)
        assert meals(record) >= share * best_meals(n, 30).meals
        assert not record.deadlocked


@pytest.mark.parametrize(("name", "order"), list(product(TALKERS, get_args(Order))))
def test_words_and_a_coin_break_the_symmetry_of_seats_without_numbers(name: str, order: Order) -> None:
    """Equal players who see no number and toss nothing act alike for ever."""
    rules = Rules(5, 30, talk=5, seat="hidden", hint="coin", order=order)
    games = [play(rules, name, seed) for seed in range(8)]
    assert not any(game.deadlocked for game in games)
    assert sum(map(meals, games)) > 0.8 * 28 * len(games)


def test_a_talker_of_ones_own_gets_a_view_and_what_it_heard() -> None:
    """The signature in the documentation, also beside a scripted talker."""
    asked: list[tuple[View, Heard]] = []

    def talker(view: View, heard: Heard) -> str | None:
        asked.append((view, heard))
        return f"round {view.round}\nI am  hungry" if view.round < 3 else None

    record = play(Rules(3, 4, talk=1), ["think", "odd_even", "announce_yield"], 0, talkers=talker)
    assert record.messages[0] == (("round 1 I am hungry",) * 3,)
    assert record.messages[3] == (("",) * 3,)
    assert all(view.talk is not None and view.talk.heard == heard for view, heard in asked)
    seated: list[str | Player] = ["think", lambda view: Action.THINK, "announce_yield"]
    own = play(Rules(3, 4, talk=1), seated, 0, talkers=[talker, None, None])
    assert own.messages[0][0][1] == ""
    assert own.messages[0][0][2].startswith("Round 1: I ask to pick_up_left")


def test_what_nobody_can_say_is_refused_in_one_sentence() -> None:
    rules = Rules(3, 4, talk=1)
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: play(Rules(3, 4), "think", talkers=lambda view, heard: ""), "talk=1 or more"),
        (lambda: play(rules, "think", talkers=[None]), "1 talkers were given for 3 seats"),
        (lambda: play(rules, "think", talkers=lambda view, heard: 3), "answered 3; accepted: a text"),  # type: ignore[arg-type,return-value]
        (lambda: Game(rules, 0).move([]), "0 readings came where 0 seats"),
        (lambda: Game(rules, 0).speak(["a"]), "1 messages came where 3 seats"),
        (lambda: Game(Rules(3, 4), 0).speak([]), "0 messages came where 0 seats"),
        (lambda: Game(rules, 0, ((("a",) * 3,),)), "no other value takes any"),
        (lambda: Game(replace(rules, talk_control="shuffled"), 0), "got 0 rounds of another game"),
        (lambda: play(Rules(3, 4, seat="hidden"), "wave"), "needs its seat number"),
        (lambda: play(Rules(3, 4, seat="hidden", hint="coin"), "odd_even"), "hint='parity'"),
    ]
    for attempt, said in cases:
        with pytest.raises(ValueError, match=re.escape(said)) as caught:
            attempt()
        sentence(caught.value)


@given(st.text(max_size=400))
def test_a_message_is_one_printable_line_of_at_most_200_characters(text: str) -> None:
    """A line break in a message could forge a line of another seat's observation."""
    message = as_message(text)
    assert len(message) <= MESSAGE_LIMIT
    assert message == "" or (message.isprintable() and message.splitlines() == [message] and message == message.strip())
    assert as_message(message) == message
    message.encode()


@pytest.mark.parametrize(
    ("message", "action"),
    [
        ("Round 3: I will eat.", Action.EAT),
        ("Round 12: number 4, meal 2 in round 12, I will pick_up_left.", Action.PICK_UP_LEFT),
        ("Round 3: I ask to pick_up_left, meals 0, number 3.", None),
        ("Round 3: I will eat. Or not.", None),
        ("Round 3: I will not eat.", None),
        ("Round 3: you think I will eat.", None),
        ("I will eat.", None),
        ("Round 3: I will dance.", None),
        ("", None),
    ],
)
def test_only_the_scripted_form_announces_an_action(message: str, action: Action | None) -> None:
    """A keyword hit reads `I will not GRAB_LEFT` as a promise to grab."""
    assert announced(message) is action


def test_scripted_talkers_do_what_they_announce() -> None:
    """The scale of says-against-does: at its top every announced action is the action taken."""
    for name, talk in product(("announce_yield", "turn_taking"), (1, 2)):
        kept = []
        for _, view, done in retrace(play(Rules(5, 30, talk=talk), name, 2)):
            action = announced(view.talk.said) if view.talk and view.talk.number == 0 else None
            if action is not None and not isinstance(done, str):
                kept.append(done.action == action)
        assert len(kept) > 50
        assert all(kept)


@pytest.mark.parametrize("order", get_args(Order))
def test_a_seat_whose_turn_a_fault_takes_is_silent_and_is_not_asked(order: Order) -> None:
    """A crashed seat that goes on talking would be no crash; one that is only late goes on."""
    rules = Rules(4, 8, order=order, talk=2, faults="0:silent@3,2:delayed=1@2", hint="coin")
    record = play(rules, "announce_yield", 4)
    for number, exchanges in enumerate(record.messages, 1):
        assert [bool(exchange[0]) for exchange in exchanges] == [number < 3] * 2
        assert all(exchange[2] for exchange in exchanges)
    asked = [(seat, view.talk.number) for seat, view, _ in retrace(record) if view.round == 5 and view.talk]
    assert asked.count((0, 1)) == asked.count((0, 0)) == 0
    assert Record.from_json(record.to_json()) == record
    replay(record)
    spoken = list(record.messages)
    spoken[4] = (("I live", *spoken[4][0][1:]), spoken[4][1])
    with pytest.raises(ValueError, match="whose fault keeps it silent"):
        replay(replace(record, messages=tuple(spoken)))
