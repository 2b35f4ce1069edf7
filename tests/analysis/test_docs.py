"""The pages on scoring and on comparing print what their commands print, and state what is so."""

import csv
import doctest
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from inspect_ai.log import write_eval_log

from inspect_dining.analysis.comparison.compare import compare
from inspect_dining.analysis.inputs.collection import read
from inspect_dining.table import Rules
from tests.analysis.made import log, run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RULES = Rules(n=5, rounds=30)


def _refresh() -> ModuleType:
    return _script("refresh")


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _shows_what_its_commands_print(name: str) -> None:
    refresh, text = _refresh(), (DOCS / name).read_text(encoding="utf-8")
    assert refresh.BLOCK.search(text), "the page shows no command"
    assert refresh.refreshed(text) == text


def _example_logs(folder: Path) -> None:
    """The runs of the page, without Inspect: the same games, since a seed names a game wherever it is played."""
    mixed = run("dining/odd_even", ["hog", *["odd_even"] * 4], RULES, 30)
    mixed.eval.model_roles = log("x", [], roles={"seat_0": "dining/hog"}).eval.model_roles
    mixed.eval.task_id = "mixed"
    for place, made in enumerate((
        run("dining/lehmann_rabin", "lehmann_rabin", RULES, 30),
        run("dining/odd_even", "odd_even", RULES, 30),
        mixed,
    )):
        made.eval.metadata = {"reward": "paper(throughput=seat_rounds)", "prompt": [_prompt()]}
        write_eval_log(made, folder / f"{place}.eval")


def _prompt() -> str:
    from inspect_dining.philosophers.prompts import prompt_hash

    return prompt_hash(RULES)


def test_the_page_on_scoring_shows_what_its_command_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    """If it fails: `python docs/refresh.py docs/scoring.md`, and read what has changed."""
    monkeypatch.chdir(ROOT)
    _shows_what_its_commands_print("scoring.md")


@pytest.mark.slow
def test_the_page_on_comparing_shows_what_its_command_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it fails: play the page's three runs, then `python docs/refresh.py docs/comparing.md` beside their folder."""
    (tmp_path / "logs").mkdir()
    _example_logs(tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    _shows_what_its_commands_print("comparing.md")


@pytest.mark.slow
def test_the_page_on_comparing_shows_what_real_runs_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The three runs of the page, played by Inspect."""
    commands = [
        line.split()[1:]
        for line in (DOCS / "comparing.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("inspect eval ")
    ]
    assert len(commands) == 3
    monkeypatch.chdir(tmp_path)
    quiet = {**os.environ, "INSPECT_DISPLAY": "none", "OMP_NUM_THREADS": "1"}
    for command in commands:
        options = ["--no-log-realtime", "--max-samples", "8"]
        subprocess.run([sys.executable, "-m", "inspect_ai", *command, *options], env=quiet, check=True, timeout=600)
    _shows_what_its_commands_print("comparing.md")


@pytest.mark.parametrize("name", ["scoring.md", "comparing.md"])
def test_the_examples_of_a_page_give_what_it_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(DOCS / name), module_relative=False)
    assert tried >= 5
    assert failed == 0


_WORDS = {7: "seven", 8: "eight", 9: "nine"}


def test_the_table_of_coverage_is_that_of_its_rows() -> None:
    """If it fails: `python docs/coverage.py --table`; without `--table` it also simulates the rows anew."""
    coverage, page = _script("coverage"), (DOCS / "comparing.md").read_text(encoding="utf-8")
    rows = coverage.stored()
    assert coverage.paged(page, rows) == page
    given = [row for row in rows if int(row["games"]) >= 30 and float(row["given"]) >= 0.2]
    intervals = [float(row["rate"]) for row in given if row["kind"] == "interval"]
    errors = [float(row["rate"]) for row in given if row["kind"] != "interval"]
    assert min(intervals) >= 0.93
    assert max(errors) <= 0.063
    seldom = [row for row in rows if row["kind"] == "interval" and float(row["given"]) < 0.2]
    assert max(float(row["given"]) * (1 - float(row["rate"])) for row in seldom) < 0.02
    assert f"of 237 tests {_WORDS[sum(rate > 0.06 for rate in errors)]} are above .06" in page
    assert sum(row["runs"] == "1000" and row["kind"] != "interval" for row in rows) == 237


@pytest.mark.slow
def test_the_rows_of_coverage_come_out_again() -> None:
    """One population of the simulation, as its script makes it."""
    coverage = _script("coverage")
    values = coverage.population("odd_even", 0.1, coverage.GAMES, coverage.EPOCHS)
    kept = {
        (row["kind"], row["outcome"]): float(row["rate"])
        for row in coverage.stored()
        if (row["player"], row["noise"], row["epochs"], row["games"]) == ("odd_even", "0.1", "1", "30")
        and row["runs"] == "150"
    }
    found = {
        (kind, name): rate
        for kind, name, _, rate in coverage.simulate(values, 1, 30, 150, seed=30)
        if (kind, name) in kept
    }
    assert found == pytest.approx(kept, abs=1e-3)


def test_the_table_of_todays_reward_is_made_of_its_rows() -> None:
    with (DOCS / "data" / "gini-welfare.csv").open(encoding="utf-8") as file:
        rows = {(row["recipe"], row["n"], row["play"]): row for row in csv.DictReader(file)}
    page = (DOCS / "experiments.md").read_text(encoding="utf-8")
    for n in ("5", "7", "10", "15", "20"):
        cells = [
            " / ".join(f"{float(rows[recipe, n, play][key]):.2f}" for key in ("deadlock", "efficiency", "fed"))
            for recipe in ("quick", "critic")
            for play in ("sampled", "greedy")
        ]
        assert f"| {n} | {' | '.join(cells)} |" in page


def _permuted(differences: Sequence[float], draws: int = 50_000) -> float:
    """The mid-p of the permutation test of pairs: with equal chances the players of a pair are exchanged."""
    flips = np.random.default_rng(1).choice([-1.0, 1.0], size=(draws, len(differences)))
    sums, observed = np.abs(flips @ np.asarray(differences)), abs(sum(differences))
    # efficiency goes by whole meals: many exchanges come to the very sum that was observed
    return float((sums > observed + 1e-9).mean() + 0.5 * (np.abs(sums - observed) <= 1e-9).mean())


@pytest.mark.slow
def test_the_contrasts_of_the_page_are_paired_and_agree_with_a_permutation_test_of_the_pairs(tmp_path: Path) -> None:
    _example_logs(tmp_path)
    (section,) = compare(read([tmp_path]), ladder_episodes=0).sections
    games = {row.letter: {(e.sample, e.epoch): e.scores for e in row.episodes} for row in section.rows}
    told, tested = " ".join((DOCS / "comparing.md").read_text(encoding="utf-8").split()), {}
    for one in section.contrasts:
        if one.p is None or one.means is None:
            continue
        first, second = games[one.first.letter], games[one.second.letter]
        permuted = _permuted([second[game][one.outcome] - first[game][one.outcome] for game in first])
        assert one.pairs == 30
        assert one.p == pytest.approx(permuted, abs=0.02), one.outcome
        tested[one.outcome, one.second.letter, one.first.letter] = one, permuted
    assert len(tested) > 15
    contrast, permuted = tested["reward", "C", "B"]
    assert contrast.p == pytest.approx(0.056, abs=5e-4)
    assert permuted == pytest.approx(0.056, abs=3e-3)
    assert contrast.unpaired_p == pytest.approx(0.30, abs=5e-3)
    assert "has p = .056, as by a permutation test of the pairs; as different games it would have .30" in told
