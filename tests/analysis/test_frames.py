"""Tidy data frames of games, and how a comparison shows itself in a notebook."""

import csv
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from click.testing import CliRunner
from inspect_ai.log import write_eval_log

from inspect_dining import frame
from inspect_dining.analysis import compare, read
from inspect_dining.cli.main import main
from inspect_dining.errors import BadInput
from inspect_dining.scorers.catalogue import SCORES
from inspect_dining.table import Rules, replay
from tests.analysis.made import log, played, run, sample

RULES = Rules(n=3, rounds=8)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    for player in ("odd_even", "random"):
        write_eval_log(run(f"dining/{player}", player, RULES, 3), folder / f"{player}.eval")
    down = log("dining/down", [sample(None, "n03-s0-e000", RULES, error="down")], rounds=8)
    write_eval_log(down, folder / "down.eval")
    return folder


def test_a_row_is_a_game_a_seat_or_a_turn_with_the_ten_scores_of_its_game(logs: Path) -> None:
    episodes = read([logs]).episodes
    played = [episode for episode in episodes if episode.record is not None]
    games, seats, turns = (frame(logs, by=by) for by in ("game", "seat", "turn"))
    assert len(games) == len(episodes) == 7
    assert len(seats) == 3 * len(played)
    assert len(turns) == sum(3 * len(episode.record.rounds) for episode in played if episode.record)
    for rows in (games, seats, turns):
        assert set(SCORES) <= set(rows.columns)
    for episode in played:
        mine = seats[(seats["sample"] == episode.sample) & (seats["model"] == episode.run.player.model)]
        assert tuple(mine["seat_meals"]) == episode.terms.meals
        assert set(mine["efficiency"]) == {episode.scores["efficiency"]}
    assert turns["ate"].sum() == seats["seat_meals"].sum() == games["meals"].sum()
    assert games["efficiency"].isna().sum() == 1, "a game without a record has no score, and no 0"
    assert set(games["status"]) == {"scored", "errored"}


def test_a_table_of_games_has_every_seat_and_the_prompt_also_as_a_file(logs: Path, tmp_path: Path) -> None:
    episodes = {(e.run.player.model, e.sample): e for e in read([logs]).episodes}
    for name in ("games.csv", "games.parquet"):
        done = CliRunner().invoke(main, ["export", str(logs), "-o", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
        assert "has 7 rows, one for each game" in done.output
    table = pd.read_csv(tmp_path / "games.csv", dtype={"roles": "str", "settings": "str"})
    table = table.fillna({"roles": "", "settings": ""})
    pd.testing.assert_frame_equal(table, pd.read_parquet(tmp_path / "games.parquet"), check_dtype=False)
    assert set(table["prompt"]) == {dict(e.run.setup)["prompt"] for e in episodes.values()}
    for row in table.to_dict("records"):
        record = episodes[row["model"], row["sample"]].record
        meals = [row[f"meals_seat_{seat}"] for seat in range(3)]
        if record is None:
            assert all(pd.isna(meal) for meal in meals)
        else:
            assert meals == list(replay(record)[-1].after.meals)


def test_a_seat_of_a_mixed_table_has_the_model_of_the_role_that_sits_there(tmp_path: Path) -> None:
    """The roles of a table that players share are not named by seat; every seat was once given the run's own model."""
    (one,) = [sample(record, name, RULES) for name, record in played(["odd_even", "hog", "odd_even"], RULES, 1).items()]
    one.metadata["seating"] = ["host", "guest", "host"]
    roles = {"guest": "dining/hog", "host": "dining/odd_even"}
    write_eval_log(log("dining/odd_even", [one], rounds=8, roles=roles), tmp_path / "mixed.eval")
    models = ["dining/odd_even", "dining/hog", "dining/odd_even"]
    assert list(frame(tmp_path, by="seat")["model"]) == models
    assert list(frame(tmp_path, by="turn")["model"][:3]) == models


def test_without_pyarrow_a_parquet_file_is_refused_in_a_sentence(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*given: object, **options: object) -> bytes:
        raise ImportError("Unable to find a usable engine")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", missing)
    done = CliRunner().invoke(main, ["export", str(logs), "-o", str(tmp_path / "games.parquet")])
    assert done.exit_code == 1
    assert "needs pyarrow" in done.output
    assert not (tmp_path / "games.parquet").exists()


@pytest.mark.parametrize("name", ["=1+1", "+cmd|' /C calc'!A0", "-2", "@SUM(A1)", " =1", "|x"])
def test_no_name_is_a_formula_in_any_csv(name: str, tmp_path: Path) -> None:
    """A spreadsheet runs what begins like a formula."""
    write_eval_log(run(name, "odd_even", RULES, 3), tmp_path / "one.eval")
    CliRunner().invoke(main, ["export", str(tmp_path), "-o", str(tmp_path / "games.csv")])
    assert (
        CliRunner().invoke(main, ["compare", str(tmp_path), "--ladder", "0", "-o", str(tmp_path / "c.csv")]).exit_code
        == 0
    )
    cells = [cell for file in ("games.csv", "c.csv") for row in csv.reader((tmp_path / file).open()) for cell in row]
    assert f"'{name}" in cells
    assert name not in cells


def test_several_logs_make_one_frame_and_an_unknown_row_is_refused(logs: Path) -> None:
    assert len(frame([logs / "odd_even.eval", logs / "random.eval"])) == 6
    with pytest.raises(BadInput, match="give game, seat or turn"):
        frame(logs, by="round")  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_comparison_prints_shows_and_plots_itself(logs: Path, tmp_path: Path) -> None:
    found = compare(read([logs / "odd_even.eval", logs / "random.eval"]), ladder_episodes=2)
    assert "A dining/odd_even" in str(found)
    assert "\x1b" not in str(found)
    html = found._repr_html_()
    assert "A dining/odd_even" in html
    assert "<b>Table 1.</b>" in html
    for what in ("efficiency", "deadlock", "survival", "seats", "contrasts"):
        picture = found.plot(what)
        assert picture._repr_html_().startswith("<svg")
        picture.save(tmp_path / f"{what}.svg")
        assert ElementTree.parse(tmp_path / f"{what}.svg").getroot().tag.endswith("svg")
    with pytest.raises(BadInput, match="There is no figure 'meals'"):
        found.plot("meals")
    with pytest.raises(BadInput, match=r"must end in \.svg or \.pdf"):
        found.plot().save(tmp_path / "x.png")
