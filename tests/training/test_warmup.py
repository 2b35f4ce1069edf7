"""The model with which a run begins: it deadlocks nearly always, as the paper's did, and loses no turns."""

from pathlib import Path

import pytest

from inspect_dining.table import episode_seed, sample_id
from inspect_dining.training.held_out import step_row
from inspect_dining.training.play.loading import dinner, load
from inspect_dining.training.play.rollouts import Play
from inspect_dining.training.recipe import Recipe


@pytest.mark.slow
def test_the_schooled_model_deadlocks_in_most_games_and_loses_almost_no_turn(schooled: Path) -> None:
    """Training that begins with a model that cannot speak, or that hardly fails, shows nothing."""
    recipe = Recipe()
    table = dinner(*load(str(schooled)), recipe)
    plays = [
        Play(recipe.rules(5, 5), episode_seed("test", sample_id(5, 0, game)), f"begin/{game}") for game in range(1000)
    ]
    played = step_row([episode.record for episode in table.play(plays, keep=False)], recipe.reward())
    assert 0.80 <= played["deadlock"] <= 0.95
    assert played["lost"] < 0.02
