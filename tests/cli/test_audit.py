"""`audit` and `ladder` as they are typed: numbers, exit status, pictures, sentences, and tables that fit."""

import json
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
from click.testing import CliRunner, Result
from PIL import Image

from inspect_dining.cli.main import main
from inspect_dining.table import Rules
from inspect_dining.table.players.scripted import players_under


def run(*arguments: str, columns: int = 80) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(main, arguments)


def lines(*arguments: str, columns: int = 80) -> list[str]:
    done = run(*arguments, columns=columns)
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def refused(*arguments: str) -> str:
    """The sentence with which a command is refused: no traceback, nothing else printed."""
    done = run(*arguments)
    assert done.exit_code != 0
    assert done.exception is None or isinstance(done.exception, (SystemExit, click.ClickException))
    assert not done.stdout
    sentence = done.stderr.strip().splitlines()[-1]
    assert sentence.startswith("Error: ")
    assert sentence.endswith(".")
    return sentence.removeprefix("Error: ")


def test_paper_is_audited_with_both_normalisers() -> None:
    found = json.loads(run("audit", "--rounds", "5", "--episodes", "0", "--json").output)
    first, second = found["audits"]
    assert first["shaping"] == "paper(throughput=seat_rounds)"
    assert "silence_never_on_top" in first["failed"]
    assert round(first["best_fair"]["reward"], 3) == 0.988
    assert second["shaping"] == "paper(throughput=optimum)"
    assert "playing_on_pays" in first["failed"]
    assert "playing_on_pays" not in second["failed"]
    assert round(second["best_fair"]["reward"], 3) == 1.428
    assert {size: round(chance, 2) for size, chance in found["no_spread"]["groups"].items()} == {
        "3": 0.66,
        "8": 0.33,
        "16": 0.11,
    }


def test_a_normaliser_that_is_named_is_the_only_one() -> None:
    found = json.loads(run("audit", "--throughput", "optimum", "--episodes", "0", "--json").output)
    assert [one["shaping"] for one in found["audits"]] == ["paper(throughput=optimum)"]
    assert round(found["audits"][0]["best_fair"]["break_even"], 3) == 0.309


@pytest.mark.slow
def test_strict_fails_where_a_property_does_and_prints_the_audit_all_the_same() -> None:
    failing = run("audit", "--rounds", "5", "--episodes", "0", "--strict")
    assert failing.exit_code == 1
    assert "FAIL  Silence is never on top, also for a team that fails." in failing.output
    assert run("audit", "--rounds", "5", "--episodes", "0").exit_code == 0
    assert run("audit", "--shaping", "proportional", "--episodes", "0", "--strict").exit_code == 0


def test_a_function_of_ones_own_is_audited_by_its_name() -> None:
    done = run("audit", "--shaping", "tests.audit.shapings:nothing_in_deadlock", "--rounds", "12", "--episodes", "0")
    assert "tests.audit.shapings:nothing_in_deadlock at n=5, T=12: lacks 2 of 9 properties" in done.output
    assert "Enumerated: all" in done.output
    assert "turns with several calls are held at none" in " ".join(done.output.split())


@pytest.mark.slow
def test_the_scripted_players_stand_by_reward_beside_their_place_by_efficiency() -> None:
    found = json.loads(run("audit", "--episodes", "30", "--throughput", "seat_rounds", "--json").output)["audits"][0]
    players = [row["player"] for row in found["standings"]]
    assert players[0] == "silent"
    assert players.index("odd_even") > players.index("left_first")
    wave = found["standings"][players.index("wave")]
    assert (wave["by_efficiency"], wave["meals"], wave["no_spread"]["16"]) == (1, 28, 1)
    assert found["agreement"] < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "--episodes", "10"),
        ("audit", "--n", "15", "--rounds", "20", "--episodes", "2", "--shaping", "proportional"),
        ("ladder", "--episodes", "10"),
        ("ladder", "--episodes", "5", "--n", "12", "--rounds", "12", "--patience", "2", "--release", "manual"),
    ],
)
def test_tables_fit_and_nothing_is_cut_off(arguments: tuple[str, ...], columns: int) -> None:
    printed = lines(*arguments, columns=columns)
    assert all(len(line) <= columns for line in printed)
    assert not any("…" in line for line in printed)
    assert "\x1b" not in "".join(printed)


@pytest.mark.slow
def test_the_ladder_shows_both_patiences_and_all_ten_scores() -> None:
    printed = "\n".join(lines("ladder", "--episodes", "20"))
    for score in ("efficiency", "no_deadlock", "throughput", "meal_variance", "idle", "reward", "proportional"):
        assert score in printed
    assert printed.index("wave") < printed.index("odd_even") < printed.index("hierarchy")
    rungs = json.loads(run("ladder", "--episodes", "20", "--json").output)["rungs"]
    assert len(rungs) == 2 * len(players_under(Rules(5)))
    assert {rung["rules"]["patience"] for rung in rungs} == {1, 3}
    assert set(rungs[0]["scores"]["jain"]) == {"mean", "low", "high"}


@pytest.mark.parametrize("order", ["simultaneous", "sequential"])
def test_the_ladder_is_played_under_the_rules_asked_for(order: str) -> None:
    asked = ("ladder", "--n", "4", "--rounds", "9", "--order", order, "--release", "manual", "--ties", "rotate")
    rungs = json.loads(run(*asked, "--hint", "parity", "--patience", "2", "--episodes", "3", "--json").output)["rungs"]
    options = {"n": 4, "rounds": 9, "release": "manual", "ties": "rotate", "hint": "parity", "patience": 2}
    assert all(rung["rules"] == options | ({} if order == "simultaneous" else {"order": order}) for rung in rungs)


@pytest.mark.slow
def test_the_picture_is_written_whole_and_twice_the_same(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg", "three.png"):
        lines("audit", "--episodes", "2", "--rounds", "12", "--picture", str(tmp_path / name))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.svg", "three.png", "two.svg"]
    drawn = (tmp_path / "one.svg").read_bytes()
    assert drawn == (tmp_path / "two.svg").read_bytes()
    ElementTree.fromstring(drawn)
    with Image.open(tmp_path / "three.png") as picture:
        assert picture.width > 2000
        colours = picture.convert("RGB").resize((200, 80)).getcolors(16000)
        assert colours is not None
        assert len(colours) > 20


def test_a_picture_that_cannot_be_written_is_refused_before_anything_is_computed(tmp_path: Path) -> None:
    assert refused("audit", "--picture", "frontier.gif").startswith("--picture frontier.gif is not accepted")
    assert "there is no folder" in refused("audit", "--picture", str(tmp_path / "none" / "frontier.png"))


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("audit", "--shaping", "papper"), "There is no shaping 'papper'. Did you mean paper?"),
        (("audit", "--shaping", "tests.audit.shapings:nothing"), "has no attribute 'nothing'"),
        (("audit", "--shaping", "no.such.module:reward"), "cannot be imported"),
        (("audit", "--shaping", "tests.audit.shapings:broken"), "raised ZeroDivisionError"),
        (("audit", "--shaping", "tests.audit.shapings:not_a_number"), "returned nan"),
        (("audit", "--weights", "1,2"), "four finite numbers are expected"),
        (("audit", "--weights", "1,2,x,4"), "--weights 1,2,x,4 is not accepted"),
        (("audit", "--shaping", "proportional", "--weights", "1,1,1,1"), "takes no weights"),
        (("audit", "--n", "1"), "--n 1 is not accepted"),
        (("audit", "--rounds", "2"), "2 is not in the range 3<=x<=1000"),
        (("audit", "--episodes", "1"), "--episodes 1 is not accepted"),
        (("audit", "--deadlock", "1.5"), "1.5 is not in the range 0<=x<=1"),
        (("ladder", "--patience", "1,x"), "--patience 1,x is not accepted"),
        (("ladder", "--patience", "0"), "--patience 0 is not accepted"),
        (("ladder", "--order", "random"), "'random' is not one of"),
    ],
)
def test_what_is_not_accepted_is_refused_in_a_sentence(arguments: tuple[str, ...], part: str) -> None:
    assert part in refused(*arguments)
