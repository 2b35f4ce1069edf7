"""replay: one game in the terminal and in a picture, from a log or a bare record."""

import json
import re
from dataclasses import replace as changed
from io import StringIO
from pathlib import Path

import pytest
from inspect_ai.log import write_eval_log
from rich.console import Console

from inspect_dining.analysis.show.replay import Shown, game, shown
from inspect_dining.analysis.show.report.ring import ring
from inspect_dining.analysis.show.turns import round_in_detail, seat_in_detail
from inspect_dining.errors import BadInput
from inspect_dining.table import Record, Rules, View, play
from inspect_dining.table.moves import READINGS, Action, Kind
from tests.analysis.made import log, run, sample

RULES = Rules(n=3, rounds=8)


def _text(record: Record, width: int = 120) -> str:
    console = Console(width=width, highlight=False)
    with console.capture() as captured:
        console.print(game(Shown(record, "a game"), width))
    return captured.get()


def test_every_round_tells_what_each_seat_did_and_then_held() -> None:
    text = _text(play(RULES, "left_first"))
    assert re.search(r"1 ▼ +●○ \+left +●○ \+left +●○ \+left +0", text)
    assert "Deadlock in round 1 of 8" in text
    assert "every seat holds exactly one fork" in text
    assert "no_deadlock 0.000" in text


def test_a_meal_a_lost_tie_a_vain_action_and_a_lost_turn_are_told_apart() -> None:
    def seat(view: View) -> str | None:
        if view.seat == 0:
            return ["pick_up_left", "pick_up_right", "eat"][min(view.round, 3) - 1]
        return "pick_up_right" if view.seat == 2 else None

    text = _text(play(Rules(n=3, rounds=3, ties="lowest"), seat))
    assert "○○ EAT" in text
    assert "+right tie" in text
    assert "+right no" in text
    assert "no_call" in text


def test_a_call_among_several_is_starred() -> None:
    record = play(RULES, "think")
    several = {reading.action: code for code, reading in READINGS.items() if reading.kind is Kind.SEVERAL}
    assert "think*" in _text(changed(record, rounds=("f" * 2 + several[Action.THINK], *record.rounds[1:])))


@pytest.mark.parametrize(("n", "width"), [(2, 80), (5, 80), (5, 140), (20, 80), (20, 300)])
def test_all_seats_are_shown_in_any_width(n: int, width: int) -> None:
    """An ellipsis would hide what a seat did."""
    record = play(Rules(n=n, rounds=6), "lehmann_rabin", seed=4)
    text = _text(record, width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    cells = re.findall(r"[●○]{2}", text.split("Meals by seat")[0])
    assert len(cells) == n * len(record.rounds)


def test_the_first_game_is_shown_and_the_others_are_counted(tmp_path: Path) -> None:
    write_eval_log(run("m/x", "odd_even", RULES, 3), tmp_path / "a.eval")
    show = shown(tmp_path / "a.eval")
    assert show.title == "m/x, n03-s0-e000, epoch 1"
    assert show.more == "The first of 3 games; choose with --sample and --epoch."
    assert shown(tmp_path, "n03-s0-e002").title == "m/x, n03-s0-e002, epoch 1"


def test_a_bare_record_is_shown_and_takes_no_sample(tmp_path: Path) -> None:
    file, record = tmp_path / "record.json", play(RULES, "wave")
    file.write_text(record.to_json(), encoding="utf-8")
    assert shown(file).record == record
    with pytest.raises(BadInput, match="is a single record"):
        shown(file, "n03-s0-e000")


def test_a_record_that_lies_is_refused_in_a_sentence(tmp_path: Path) -> None:
    file, record = tmp_path / "record.json", play(RULES, "wave")
    file.write_text(changed(record, ended="deadlock").to_json(), encoding="utf-8")
    with pytest.raises(BadInput, match="says that it ended by 'deadlock'"):
        shown(file)


def test_a_cut_game_is_shown_without_scores() -> None:
    record = play(RULES, "odd_even")
    cut = changed(record, ended="cut: token limit", rounds=record.rounds[:3], hashes=record.hashes[:3])
    text = _text(cut)
    assert "Cut after 3 of 8 rounds (token limit)" in text
    assert "efficiency" not in text
    assert "Cut after 0 of 8 rounds" in _text(changed(cut, rounds=(), hashes=()))


def test_a_sample_without_a_record_says_why(tmp_path: Path) -> None:
    write_eval_log(log("m/x", [sample(None, "n03-s0-e000", RULES, error="boom")], rounds=8), tmp_path / "a.eval")
    with pytest.raises(BadInput, match="has no record: boom"):
        shown(tmp_path / "a.eval")


TALK = Rules(n=4, rounds=6, talk=2, faults="1:liar@3")


def test_messages_stand_by_their_round_and_seat_in_the_terminal_and_in_the_report() -> None:
    """Who said what decides what a game with talk means; silence among several messages shows too."""

    def talker(view: View, heard: tuple[str, str]) -> str | None:
        first = view.talk is not None and view.talk.number == 1
        return None if view.seat == 2 and first else f"[b]word {view.seat} of {view.round}[/b] <script>"

    record = play(TALK, "odd_even", 3, talkers=talker)
    text = _text(record)
    assert re.search(r"\n +2 +0 +\[b\]word 0 of 2\[/b\] <script> / \[b\]word", text)
    assert re.search(r"\n +2 +- / \[b\]word 2 of 1", text)
    assert re.search(r"\n +1! +Round 3: I will \w+\. / Round 3: I will", text)
    console = Console(width=140, record=True, file=StringIO())
    for detail in (round_in_detail(record, 3, {}), seat_in_detail(record, 1, {})):
        console.print(detail)
    told = console.export_text()
    assert len(re.findall(r"Round 3: I will \w+\. / Round 3: I will \w+\. .*⚠ liar: ", told)) == 2
    page = ring(record, "a game")
    data = json.loads(page.split('type="application/json">')[1].split("</script>")[0])
    assert data[3]["s"][1].startswith("Round 3: I will ")
    assert data[3]["t"][1].startswith("⚠ liar: ")
    assert data[2]["s"][2] == "- / [b]word 2 of 2[/b] <script>"
    assert "<script>" not in page.split('type="application/json">')[1].split("</script>")[0]
    assert "s" not in json.loads(ring(play(RULES, "wave"), "x").split('json">')[1].split("</script>")[0])[1]
    control = play(changed(TALK, talk_control="shuffled"), "odd_even", 3, talkers=talker)
    assert "in place of which those of another game were heard" in _text(control)


def test_a_faulty_seat_is_marked_in_the_terminal_and_in_the_picture() -> None:
    record = play(Rules(n=4, rounds=10, faults="1:crash@first_fork"), "odd_even", 3)
    console = Console(width=120, record=True, file=StringIO())
    console.print(game(Shown(record, "a game"), 120))
    text = console.export_text()
    assert "fault!" in text
    assert "!: the seat's fault has begun." in text
    assert record.to_svg("a game") != play(Rules(n=4, rounds=10), "odd_even", 3).to_svg("a game")
    assert ">!</text>" in record.to_svg("a game")
