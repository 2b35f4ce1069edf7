"""What an onlooker is told of a game: in the third person, and whole."""

from itertools import pairwise

import pytest

from inspect_dining.table import Action, Reading, Rules, Table, play, replay
from inspect_dining.table.chronicle import account, ending, round_card, told
from inspect_dining.table.moves import DONE_TURNS, LOST_TURNS, TIE_TURNS, VAIN_TURNS, Kind, Outcome
from inspect_dining.table.record import Record, cut
from inspect_dining.table.table import move

TURNS = [turn for turns in (DONE_TURNS, LOST_TURNS, TIE_TURNS, *VAIN_TURNS.values()) for turn in turns.values()]


def test_every_turn_is_told_in_words_of_its_own() -> None:
    """A card that told a lost tie like a success would show forks that nobody holds."""
    assert len({told(turn) for turn in TURNS}) == len(TURNS)
    for turn in TURNS:
        assert ("✗" in told(turn)) == (turn.outcome is not Outcome.DONE)
        assert "your" not in told(turn)


def test_a_card_shows_the_forks_before_and_after_the_turn_and_the_table_all_saw() -> None:
    rules = Rules(n=3, rounds=5)
    before = Table.empty(3)
    readings = [Reading(Kind.ACTION, Action.PICK_UP_LEFT), Reading(Kind.ACTION, Action.THINK), Reading(Kind.EMPTY)]
    card = round_card(rules, before, move(before, range(3), readings, lambda _, fork: fork)).splitlines()
    assert card[0] == f"**Round 1 of 5** (table `{before.hash}`)"
    assert card[-3:] == [
        "| 0 | ○ ○ | pick_up_left | ● ○ | 0 |",
        "| 1 | ○ ○ | think | ○ ○ | 0 |",
        "| 2 | ○ ○ | ✗ lost turn: empty | ○ ○ | 0 |",
    ]


@pytest.mark.parametrize("patience", [1, 3])
def test_a_locked_table_is_said_to_be_locked(patience: int) -> None:
    record = play(Rules(n=4, rounds=9, patience=patience), "left_first")
    last = replay(record)[-1]
    card = round_card(record.rules, last.before, last.after)
    assert card.splitlines()[-1].startswith("Every philosopher holds exactly one fork")
    assert (f"round {patience} of {patience} in a row" in card) == (patience > 1)


def test_headings_keep_a_space_that_markdown_does_not_strip() -> None:
    """Inspect's viewer sets cells without padding: `philosopherheld (left right)turn` was one word."""
    record = play(Rules(n=3, rounds=4), "random", seed=3)
    first = replay(record)[0]
    for text in (round_card(record.rules, first.before, first.after), account(record)):
        heads = next(line for line in text.splitlines() if line.startswith("| philosopher")).strip("|").split("|")
        shown = [head.strip() for head in heads]
        assert all(left.endswith("\u200b") or right.startswith("\u200b") for left, right in pairwise(shown))


def test_the_account_of_a_cut_game_says_so_and_keeps_the_meals() -> None:
    whole = play(Rules(n=5, rounds=12), "wave")
    part = Record(whole.rules, whole.seed, cut("token limit"), whole.rounds[:7], whole.hashes[:7])
    assert ending(part) == "Cut after 7 of 12 rounds (token limit); a cut game is not scored."
    told_meals = [
        int(line.split("|")[2]) for line in account(part).splitlines() if line[:3] in {f"| {i}" for i in range(5)}
    ]
    assert tuple(told_meals) == replay(part)[-1].after.meals
    assert sum(told_meals) > 0
