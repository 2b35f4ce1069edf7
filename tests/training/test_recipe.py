"""Recipes: what is not accepted is refused in a sentence, before anything begins."""

from pathlib import Path

import pytest

from inspect_dining.errors import BadInput
from inspect_dining.training.engines import check
from inspect_dining.training.recipe import Recipe, Stage, builtin, checked, load, size


@pytest.mark.parametrize("name", builtin())
def test_every_recipe_of_the_package_is_accepted(name: str) -> None:
    assert load(name).name == name


def test_the_paper_s_recipe_is_the_paper_s() -> None:
    """The control must not be quietly improved: 16 steps x 2 groups x 3 episodes of 5 seats and 5 rounds."""
    recipe = load("paper")
    assert (recipe.steps, recipe.groups, recipe.episodes) == (16, 2, 3)
    assert recipe.stages == (Stage(games=("5x5",)),)
    assert (recipe.lora_rank, recipe.keep, recipe.shaping, recipe.hint) == (8, "last", "paper", "none")
    assert recipe.weighting == "episode"


def test_the_corrected_recipe_has_no_hint_and_varied_horizons_with_five_seats_from_the_first_step() -> None:
    """A horizon that never varies becomes part of the policy, which then deadlocks at every other."""
    recipe = load("corrected")
    assert recipe.hint == "none"
    assert any(game.startswith("5x") for game in recipe.stages[0].games)
    assert len({size(game)[1] for stage in recipe.stages for game in stage.games}) >= 3
    assert recipe.weighting == "constant"


def test_a_misspelt_key_names_the_nearest() -> None:
    with pytest.raises(
        BadInput, match=r"There is no key 'stesp' in a recipe\. Did you mean steps\? Accepted: name, model"
    ):
        load("quick", {"stesp": 3})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"steps": 0}, "steps=0 is not accepted: .*greater than or equal to 1"),
        ({"stages": "5by12"}, "the game '5by12' is not read; games are written as seats x rounds, such as 5x12"),
        ({"stages": "1x12"}, "the game '1x12' is not read"),
        ({"shaping": "papr"}, "no shaping 'papr'. Did you mean paper"),
        ({"shaping": "proportional", "weights": "1,2,3,4"}, "takes no weights"),
        ({"hint": "seat"}, "hint='seat' is not accepted"),
        ({"pairs": "many"}, "pairs='many' is not accepted"),
    ],
)
def test_a_value_that_is_not_accepted_is_refused_in_a_sentence(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence) as refused:
        load("quick", changes)
    assert "\n" not in str(refused.value)


def test_flags_say_the_same_as_yaml() -> None:
    written = checked({"stages": [{"games": ["5x12", "3x12"], "steps": 60, "until": 0.6}, {"games": ["5x30"]}]})
    flagged = checked({"stages": "5x12,3x12@60:0.6; 5x30"})
    assert written == flagged
    assert checked({"test_sizes": "5,7", "spread": "true"}) == checked({"test_sizes": [5, 7], "spread": True})


def test_a_recipe_builds_on_another(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: paper\nsteps: 3\n", encoding="utf-8")
    assert load(str(file)) == load("paper").model_copy(update={"steps": 3, "name": "mine"})


def test_a_recipe_that_builds_on_itself_is_refused(tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text(f"extends: {two}\n", encoding="utf-8")
    two.write_text(f"extends: {one}\n", encoding="utf-8")
    with pytest.raises(BadInput, match="builds on itself"):
        load(str(one))


@pytest.mark.parametrize(("text", "said"), [("- a\n", "holds list"), ("a: [", "is not YAML")])
def test_a_file_that_is_no_recipe_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        load(str(file))


def test_an_unknown_recipe_names_the_nearest() -> None:
    with pytest.raises(BadInput, match=r"no recipe 'quik'\. Did you mean quick\?"):
        load("quik")


def test_every_key_has_an_accepted_default() -> None:
    assert checked({}) == Recipe()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lora_rank": 0}, "are for LoRA: the base model is sharded"),
        ({"lora_rank": 4, "rollouts": "vllm"}, "give --learner torch and --rollouts local"),
        ({"lora_rank": 4, "credit": "counterfactual"}, "give --credit critic or group and --explore 0"),
        ({"lora_rank": 4, "explore": 0.1}, "give --credit critic or group and --explore 0"),
    ],
)
def test_what_sharded_weights_do_not_do_is_refused_before_anything_is_made(
    changes: dict[str, object], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes that make different numbers of passes would wait for each other for ever."""
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    check(Recipe(lora_rank=4), 2)
    with pytest.raises(BadInput, match=message):
        check(checked(changes), 2)
