"""Held-out games: drawn by the run's seed, and never those of training."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from inspect_dining.table.rules import episode_seed, sample_id
from inspect_dining.training.evaluations import evaluate
from inspect_dining.training.held_out import held_out
from inspect_dining.training.keep.run_directory import RunDir
from inspect_dining.training.play.rollouts import Play
from inspect_dining.training.recipe import Recipe


class Watched(Exception):
    """What was asked for."""


class Dinner:
    """Plays nothing, and tells what it was asked for."""

    def play(self, plays: Sequence[Play], keep: bool = True) -> None:
        raise Watched([play.seed for play in plays])


def seeds(split: str, seed: int) -> set[int]:
    """The seeds of the held-out games of a run."""
    with pytest.raises(Watched) as told:
        held_out(Dinner(), Recipe(seed=seed), split, (3, 5), 30, 12, "k")  # type: ignore[arg-type]  # it only plays
    found = set(told.value.args[0])
    assert len(found) == 2 * 12, "sampled and greedy play the same games"
    return found


def test_every_seed_of_a_run_has_selection_and_test_games_of_its_own() -> None:
    """The experiments' runs all shared the same test games, so that their luck looked like agreement."""
    games = [seeds(split, seed) for seed in (0, 1, 2) for split in ("select", "test")]
    assert len(set.union(*games)) == sum(map(len, games))


def test_the_test_games_are_those_of_an_evaluation_with_the_runs_seed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    named = {episode_seed("test", sample_id(n, 7, game)) for n in (3, 5) for game in range(12)}
    assert seeds("test", 7) == named
    asked: list[object] = []

    def evaluated(task: str, task_args: dict[str, object], **more: object) -> None:
        asked.append(task_args["seed"])
        raise Watched

    monkeypatch.setattr("inspect_ai.eval", evaluated)
    monkeypatch.setattr("inspect_ai.model.get_model", lambda name, **more: None)
    with pytest.raises(Watched):
        list(evaluate(Recipe(seed=7), RunDir(tmp_path)))
    assert asked == [7], "the logs of a run hold the same games"
