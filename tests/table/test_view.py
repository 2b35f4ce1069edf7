"""What a seat sees, as data and as text."""

import pytest
from hypothesis import given

from inspect_dining.table import Fork, Record, Rules, View, parse, render, replay, see
from tests.table.dinners import dinner, records, sentence, views

START = "Round 1 of 3. You are philosopher 0 of 2.\n"


@given(views())
def test_the_text_of_every_view_reads_back(view: View) -> None:
    """Two views with one text would make a scripted player decide from more than a model is told."""
    assert parse(render(view)) == view
    assert parse(render(view) + "\nYour earlier turns:\nRound 1 of 3. think: done.") == view
    assert f"Round {view.round} of {view.rounds}." in render(view)


@given(records())
def test_every_view_of_a_game_reads_back_and_shows_only_its_own_seat(record: Record) -> None:
    """A fork shown wrong, or a neighbour's meals in the text, changes the game that is measured."""
    n = record.rules.n
    for round in replay(record):
        for seat, table in enumerate(round.seen):
            view = see(table, seat, record.rules, record.seed)
            assert parse(render(view)) == view
            assert (view.round, view.meals, view.last) == (round.number, table.meals[seat], table.last[seat])
            for fork, shown in ((seat, view.left), ((seat + 1) % n, view.right)):
                mine = Fork.SPENT if table.spent[fork] else Fork.MINE
                assert shown is {-1: Fork.FREE, seat: mine}.get(table.held[fork], Fork.TAKEN)


def test_the_words_are_those_that_a_person_understands() -> None:
    """The prompt is part of the experiment: it changes only on purpose."""
    rules = Rules(n=3, rounds=9, ties="lowest")
    first = dinner(rules, "aaf")[-1].after
    assert render(see(first, 0, rules)) == (
        "Round 2 of 9. You are philosopher 0 of 3.\n"
        "Left fork: in your hand. Right fork: taken. Meals: 0.\n"
        "Your last turn: pick_up_left: done."
    )
    hinted = Rules(n=3, rounds=9, hint="parity", ties="lowest")
    text = render(see(dinner(hinted, "faB")[-1].after, 1, hinted))
    assert text.startswith("Round 2 of 9. You are philosopher 1 of 3 (an odd seat).\nLeft fork: in your hand.")
    beaten = dinner(rules, "BAf")[-1].after
    assert render(see(beaten, 1, rules)).endswith(
        "pick_up_left: your neighbour reached for that fork too and got it. Only your first call counted."
    )
    assert render(see(dinner(rules, "0ff")[-1].after, 0, rules)).endswith("no action, your reply called no tool.")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello.",
        START + "Left fork: bent. Right fork: free. Meals: 0.\nYour last turn: none yet.",
        START + "Left fork: free. Right fork: free. Meals: 0.\nYour last turn: slept.",
    ],
)
def test_what_is_no_observation_is_refused_in_one_sentence(text: str) -> None:
    """A guessed view would let a scripted player act on nothing."""
    with pytest.raises(ValueError, match="no observation") as caught:
        parse(text)
    sentence(caught.value)
