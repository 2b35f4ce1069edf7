"""Columns for Inspect's data frames: from records, picklable, empty where there is nothing."""

import pickle
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from inspect_ai.analysis import SampleSummary, samples_df
from inspect_ai.log import write_eval_log

from inspect_dining.analysis import DiningColumns
from inspect_dining.table import Rules, play
from inspect_dining.table.moves import LOST
from tests.analysis.made import log, sample

RULES = Rules(n=3, rounds=8, patience=2)


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """A finished game with lost turns, a cut one, and one without a record."""
    record = play(RULES, ["silent", "think", "think"])
    cut = replace(record, ended="cut: token limit", rounds=record.rounds[:2], hashes=record.hashes[:2])
    made = log(
        "m/x",
        [
            sample(record, "n03-s0-e000", RULES),
            sample(cut, "n03-s0-e001", RULES),
            sample(None, "n03-s0-e002", RULES, error="down"),
        ],
    )
    file = tmp_path_factory.mktemp("logs") / "a.eval"
    write_eval_log(made, file)
    found = samples_df(str(file), columns=[*SampleSummary, *DiningColumns])
    assert isinstance(found, pd.DataFrame)
    return found.set_index("id")


def test_a_finished_game_tells_rules_outcome_and_lost_turns(frame: pd.DataFrame) -> None:
    row = frame.loc["n03-s0-e000"]
    assert (row["dining_n"], row["dining_rounds"], row["dining_patience"], row["dining_hint"]) == (3, 8, 2, "none")
    assert (row["dining_ended"], row["dining_played"], row["dining_deadlocked"]) == ("horizon", 8, False)
    assert (row["dining_meals"], row["dining_meals_by_seat"]) == (0, "0/0/0")
    assert {kind: row[f"dining_lost_{kind}"] for kind in LOST} == {kind: 8 * (kind == "no_call") for kind in LOST}
    assert row["dining_tokens_by_seat"] == "24/24/24"


def test_a_cut_game_has_its_rules_and_end_and_no_outcome(frame: pd.DataFrame) -> None:
    """A cut game's meals are no score."""
    row = frame.loc["n03-s0-e001"]
    assert (row["dining_ended"], row["dining_played"]) == ("cut: token limit", 2)
    assert row[["dining_meals", "dining_deadlocked", "dining_lost_no_call"]].isna().all()


def test_a_sample_without_a_record_has_none_of_them(frame: pd.DataFrame) -> None:
    row = frame.loc["n03-s0-e002"]
    assert row[[str(name) for name in frame.columns if str(name).startswith("dining_")]].isna().all()


def test_the_columns_can_be_sent_to_other_processes(tmp_path: Path) -> None:
    """`samples_df(parallel=...)` pickles them."""
    assert len(pickle.loads(pickle.dumps(DiningColumns))) == len(DiningColumns)
