"""A game in words: what the log shows must be what happened."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.table import Record, Rules, replay
from inspect_dining.table.moves import DONE_TURNS, LOST_TURNS, TIE_TURNS, VAIN_TURNS, Outcome
from inspect_dining.table.narration import EXCERPT, account, excerpt, meals_by_seat, round_card, strip, told
from inspect_dining.table.record import ending
from tests.table.dinners import dinner, feed, records


def rows(text: str) -> list[str]:
    """The rows of the seats."""
    return [line for line in text.splitlines() if re.match(r"\| \d", line)]


def test_a_round_card_shows_what_each_seat_held_did_and_got() -> None:
    """The card is read beside the views: a fork on the wrong side sends its reader after a fault that is none."""
    rules = Rules(n=3, rounds=9, ties="lowest", patience=2)
    last = dinner(rules, "aff", "aa0", "fff")[1]
    cells = [row.strip("| ").split(" | ") for row in rows(round_card(rules, last.before, last.after))]
    assert [(seat, held, now, meals) for seat, held, _, now, meals in cells] == [
        ("0", "● ○", "● ○", "0"),
        ("1", "○ ○", "● ○", "0"),
        ("2", "○ ○", "○ ○", "0"),
    ]
    assert cells[0][2].startswith("pick_up_left")
    assert cells[0][2] != cells[1][2]
    locked = dinner(rules, "bbb", "fff")[1]
    assert [row.count("| ○ ● |") for row in rows(round_card(rules, locked.before, locked.after))] == [2, 2, 2]
    assert round_card(rules, locked.before, locked.after).endswith("exactly one fork (round 2 of 2 in a row).")


def test_an_account_tells_who_ate_when_why_it_ended_and_which_turns_were_lost() -> None:
    """What a person reads under a score, word for word."""
    rounds = ["0ff", "afB", "b03", "eff", "a05", "faa"]
    text = account(feed(Rules(n=3, rounds=9, ties="lowest"), rounds))
    assert text.startswith("**Deadlock in round 6 of 9: every philosopher held exactly one fork.**\n\n```\nround   1")
    assert "seat  0 x ◧ ■ ★ ◧ ◧   1 meal\n" in text
    assert "                  ▲ locked\n" in text
    assert rows(text) == [
        "| 0 | 1 | 4 | 1 no_call |",
        "| 1 | 0 | - | 2 no_call |",
        "| 2 | 0 | - | 1 empty, 1 refused |",
    ]
    assert ending(feed(Rules(n=3, rounds=9), ["fff"])) == (
        "Cut after 1 of 9 rounds (unfinished); a cut game is not scored."
    )


@given(records())
def test_an_account_agrees_with_the_replay(record: Record) -> None:
    """Each meal stands under its round, and with patience every locked round is named."""
    rounds = replay(record)
    text = account(record)
    for seat in range(record.rules.n):
        eaten = [round.number for round in rounds if round.after.meals[seat] > round.before.meals[seat]]
        when = ", ".join(map(str, eaten)) or "-"
        assert re.search(rf"^\| {seat} \| {len(eaten)} \| {when} \|", text, re.MULTILINE)
    locked = [str(round.number) for round in rounds if round.locked]
    assert text.endswith(f"one fork: {', '.join(locked)}.") == bool(locked and record.rules.patience > 1)
    if rounds:
        assert meals_by_seat(rounds[-1].after) == "/".join(str(meals) for meals in rounds[-1].after.meals)


def test_every_turn_is_told_in_words_of_its_own_as_an_onlooker_would() -> None:
    """A card that told a lost tie like a success would show forks that nobody holds, and it is not spoken to a seat."""
    turns = [turn for turns in (DONE_TURNS, LOST_TURNS, TIE_TURNS, *VAIN_TURNS.values()) for turn in turns.values()]
    assert len({told(turn) for turn in turns}) == len(turns)
    for turn in turns:
        assert ("✗" in told(turn)) == (turn.outcome is not Outcome.DONE)
        assert "your" not in told(turn)


def test_headings_keep_a_space_that_markdown_does_not_strip() -> None:
    """Inspect's viewer sets cells without padding: `philosopherheld (left right)turn` ran together."""
    record = feed(Rules(n=3, rounds=9), ["aff"])
    first = replay(record)[0]
    for text in (round_card(record.rules, first.before, first.after), account(record)):
        heads = next(line for line in text.splitlines() if line.startswith("| philosopher")).strip("|").split("|")
        for left, right in pairwise(head.strip() for head in heads):
            assert left.endswith("\u200b") or right.startswith("\u200b")


@given(records())
def test_the_strip_has_a_cell_for_every_turn_and_tells_meals_lost_turns_and_locks(record: Record) -> None:
    rounds = replay(record)
    lines = strip(record).split("\n")
    wide = 2 if len(rounds) <= 40 else 1
    for seat in range(record.rules.n):
        cells = lines[1 + seat].removeprefix(f"seat {seat:>2} ")[: len(rounds) * wide : wide]
        assert len(cells) == len(rounds)
        assert cells.count("★") == (rounds[-1].after.meals[seat] if rounds else 0)
        assert cells.count("x") == sum(round.turns[seat].reading.action is None for round in rounds)
        both = [place for place, cell in enumerate(cells) if cell == "■"]
        assert all(rounds[place].after.held[seat] == seat for place in both)
    assert lines[-1].count("▲") == sum(round.locked for round in rounds) or not any(r.locked for r in rounds)


@given(st.text())
def test_an_excerpt_is_one_short_line_that_markdown_and_terminals_leave_alone(text: str) -> None:
    shown = excerpt(text)
    assert "\n" not in shown
    assert all(c.isprintable() for c in shown)
    assert not re.search(r"(?<!\\)[|`*_<>]", shown.replace("\\\\", ""))
    assert len(re.sub(r"\\(.)|&\w+;", "x", shown)) <= EXCERPT + 1
