"""Files that dpbench 0.2.1 wrote are read, scored again and shown; what is broken is told and left out."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from inspect_dining.analysis.comparison.dpbench import cells, contrasts, summary
from inspect_dining.cli.main import main
from inspect_dining.dpbench.game import play
from inspect_dining.dpbench.players import player
from inspect_dining.dpbench.published.files import Cell, read
from inspect_dining.dpbench.rules import DPBenchRules
from inspect_dining.errors import BadInput

RESULTS = Path(__file__).parent / "results"
"""Three cells of random replies, as dpbench 0.2.1 itself logged them (times set to 0)."""
LOGS = sorted(RESULTS.rglob("log.jsonl"))
THEIRS = {
    "deadlock": "deadlock_rate",
    "throughput": "avg_throughput",
    "fairness": "avg_fairness",
    "time_to_deadlock": "avg_time_to_deadlock",
    "starvation": "avg_starvation_count",
    "consistency": "message_action_consistency",
}


def cell(path: Path) -> Cell:
    notes: list[str] = []
    (only,) = read(path, notes)
    assert notes == []
    return only


@pytest.mark.parametrize("log", LOGS, ids=[log.parent.name for log in LOGS])
def test_a_log_comes_to_the_metrics_that_dpbench_wrote_beside_it(log: Path) -> None:
    theirs = json.loads(log.with_name("metrics.json").read_text(encoding="utf-8"))
    ours = summary(cell(log)).reported
    for name, column in THEIRS.items():
        expected = theirs.get(column)
        assert ours[name].mean == (None if expected is None else pytest.approx(expected)), name


def test_a_sequential_deadlock_in_a_log_is_found() -> None:
    read_again = cell(RESULTS / "stub-model" / "seq_n5_nocomm" / "log.jsonl")
    assert (read_again.model, read_again.condition, read_again.version) == ("stub-model", "seq_n5_nocomm", "0.2.0")
    assert [one.reported.deadlock for one in read_again.episodes] == [False, False]
    assert [one.corrected.deadlock for one in read_again.episodes] == [True, False]
    assert read_again.episodes[0].corrected.time_to_deadlock == 5
    assert read_again.episodes[0].reported.fairness == 1
    assert read_again.episodes[0].corrected.fairness == 0


def test_decisions_of_a_sequential_log_are_counted_once() -> None:
    """It logged 30 of them over 12 actions."""
    (episode,) = cell(RESULTS / "stub-model" / "seq_n3_comm" / "log.jsonl").episodes
    assert (episode.reported.stated, episode.corrected.stated) == (30, 12)


def per_episode(folder: Path, name: str, rows: list[list[object]]) -> Path:
    """A table of episodes, as dpbench's aggregation writes it."""
    file = folder / "per_episode" / f"v0.2.0_20260101_000000__{name}.csv"
    file.parent.mkdir(exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        head = ["episode_id", "total_timesteps", "deadlock", "total_meals", "throughput", "fairness"]
        writer.writerow([*head, "meals_per_philosopher"])
        writer.writerows(rows)
    return file


def test_an_early_end_in_a_table_of_episodes_is_a_deadlock(tmp_path: Path) -> None:
    rows: list[list[object]] = [[0, 5, False, 0, 0.0, 1.0, "0;0;0;0;0"], [1, 30, False, 2, 0.07, 0.5, "1;1;0;0;0"]]
    table = cell(per_episode(tmp_path, "m__seq_n5_nocomm", rows))
    assert (table.model, table.condition, table.version) == ("m", "seq_n5_nocomm", "0.2.0")
    assert [one.corrected.deadlock for one in table.episodes] == [True, False]
    unknown = per_episode(tmp_path, "m__mine", rows)
    notes: list[str] = []
    (unproven,) = read(unknown, notes)
    assert [one.corrected.deadlock for one in unproven.episodes] == [False, False]
    assert not summary(unproven).proven
    assert "horizon" in notes[0]


def test_a_log_counts_more_than_the_table_of_its_episodes(tmp_path: Path) -> None:
    logged = cell(RESULTS / "stub-model" / "sim_n3_comm" / "log.jsonl")
    rows: list[list[object]] = [
        [i, one.reported.timesteps, one.reported.deadlock, 0, 0.0, 0.0, ";".join(map(str, one.reported.meals))]
        for i, one in enumerate(logged.episodes)
    ]
    table = per_episode(tmp_path, "stub-model__sim_n3_comm", rows)
    notes: list[str] = []
    found = cells([str(RESULTS), str(table)], notes)
    assert [one.source.rsplit(".", 1)[-1] for one in found] == ["jsonl"] * 3
    assert any("the logs count" in note for note in notes)


def test_tables_of_whole_cells_are_shown_as_they_are(tmp_path: Path) -> None:
    table = tmp_path / "master.csv"
    table.write_text(
        "model,condition_canonical,episodes,deadlock_rate,avg_throughput,avg_fairness,avg_time_to_deadlock,dpbench_version\n"
        "m,seq_n5_nocomm,30,0.1,0.5,nan,,0.2.0\n",
        encoding="utf-8",
    )
    (row,) = read(table, [])
    one = summary(row)
    assert (one.reported["deadlock"].mean, one.episodes, one.proven) == (0.1, 30, False)
    assert one.reported["fairness"].mean is None, "what is no number is no mean"
    assert one.reported["time_to_deadlock"].mean is None


def broken(change: str) -> list[str]:
    lines = (RESULTS / "stub-model" / "sim_n3_comm" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return {
        "cut in a line": [*lines[:-1], lines[-1][:30]],
        "not json": [lines[0], "{oops", *lines[1:]],
        "no philosophers": [lines[0], lines[1].replace('"philosophers"', '"guests"'), *lines[2:]],
        "another action": [lines[0], lines[1].replace('"action": "', '"action": "dance_'), *lines[2:]],
        "a list": [*lines, "[]"],
    }[change]


@pytest.mark.parametrize("change", ["cut in a line", "not json", "no philosophers", "another action", "a list"])
def test_a_broken_line_is_told_and_left_out(change: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(broken(change)) + "\n", encoding="utf-8")
    notes: list[str] = []
    (found,) = read(log, notes)
    assert "lines were left out" in notes[0]
    assert len(found.episodes) == (1 if change == "cut in a line" else 2)
    if change == "cut in a line":
        assert "have no end" in notes[1]


def use(*words: str) -> Result:
    return CliRunner().invoke(main, ["dpbench", *words])


def test_the_verb_shows_writes_and_draws(tmp_path: Path) -> None:
    table, figure = tmp_path / "cells.csv", tmp_path / "deadlock.svg"
    shown = use(str(RESULTS), "--contrasts", "--csv", str(table), "--figure", str(figure))
    assert shown.exit_code == 0, shown.output
    assert "stub-model" in shown.output
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    (sequential,) = [row for row in rows if row["condition"] == "seq_n5_nocomm"]
    assert (sequential["deadlock_reported"], sequential["deadlock_again"]) == ("0", "0.5")
    assert ElementTree.parse(figure).getroot().tag.endswith("svg")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "No results were given"),
        (("nowhere",), "nowhere does not exist"),
        ((__file__,), "no file of dpbench's"),
        ((str(RESULTS), "--csv", "cells.xls"), "must end in .csv"),
        ((str(RESULTS), "--figure", "nowhere/deadlock.svg"), "there is no folder nowhere"),
    ],
)
def test_the_verb_refuses_what_is_wrong_in_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    result = use(*words)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert not result.stdout


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    for name, text in (("a.csv", "x,y\n1,2\n"), ("b.jsonl", '{"type": "timestep"}\n'), ("c.jsonl", "\x00")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(BadInput, match="of dpbench's"):
            read(tmp_path / name, [])
    (tmp_path / "d.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="no text file"):
        read(tmp_path / "d.csv", [])


def test_contrasts_compare_one_condition(tmp_path: Path) -> None:
    rows: list[list[object]] = [[i, 5, False, 0, 0.0, 1.0, "0;0;0;0;0"] for i in range(10)]
    done: list[list[object]] = [[i, 30, False, 2, 0.1, 0.5, "1;1;0;0;0"] for i in range(10)]
    for name, content in (("a__seq_n5_nocomm", rows), ("b__seq_n5_nocomm", done), ("b__sim_n5_nocomm", done)):
        per_episode(tmp_path, name, content)
    (only,) = contrasts(cells([str(tmp_path)], []))
    assert (only.condition, only.difference) == ("seq_n5_nocomm", -1)
    assert only.p is not None
    assert only.p < 0.001


def test_games_of_ours_stand_beside_theirs(tmp_path: Path) -> None:
    from inspect_dining.dpbench.published.files import of_record

    record = play(DPBenchRules(3, order="sequential"), player("left_first"))
    found = of_record(record.to_dict())
    assert found is not None
    assert found[1].corrected.deadlock
    assert of_record({**record.to_dict(), "ended": "cut: token limit", "rounds": [], "hashes": []}) is None
