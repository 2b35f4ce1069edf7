"""The ablation: what its variants are, and that it does no work twice."""

from concurrent.futures import ThreadPoolExecutor
from math import isnan
from pathlib import Path

import pytest

from inspect_dining.errors import BadInput
from inspect_dining.training import ablate as module
from inspect_dining.training.ablate import Variant, ablate, mean_of, picture, rows, table, variants
from inspect_dining.training.recipe import Recipe, Stage, load


def test_the_variants_are_the_paper_and_all_combinations_of_its_proposals() -> None:
    """A variant that differs in anything else would be blamed or praised for it."""
    recipe = load("quick")
    made = {variant.name: variant.recipe for variant in variants(recipe)}
    assert list(made) == [
        "paper", "none", "curriculum", "best", "best+curriculum", "reward", "reward+curriculum", "reward+best",
        "reward+best+curriculum", "all but diversity",
    ]  # fmt: skip
    assert made["reward+best+curriculum"] == recipe
    for name, one in made.items():
        if name == "paper":
            continue
        if name == "all but diversity":
            assert one == recipe.model_copy(update={"diversity": 0.0})
            continue
        assert (one.shaping == recipe.shaping) == ("reward" in name)
        assert (one.keep == "best") == ("best" in name)
        assert (one.stages == recipe.stages) == ("curriculum" in name)
        changed = {key for key in Recipe.model_fields if getattr(one, key) != getattr(recipe, key)}
        assert changed <= {"shaping", "keep", "stages"}
    assert made["paper"].model_copy(update={"rate": 5e-6, "rate_last": 5e-6, "restarts": 0}) == load(
        "paper", {"test_episodes": recipe.test_episodes}
    )


@pytest.mark.slow
@pytest.mark.parametrize("processes", [False, True])
def test_runs_on_disk_are_not_run_again_and_another_recipe_is_refused(
    speaker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: bool
) -> None:
    """Nor is a run that only keeps another checkpoint; it comes to what it would have come to by itself."""
    recipe = Recipe(
        model=str(speaker),
        steps=1,
        groups=1,
        episodes=2,
        stages=(Stage(games=("3x4",)),),
        shaping="proportional",
        select_sizes=(3,),
        select_rounds=4,
        select_episodes=2,
        test_sizes=(3,),
        test_rounds=4,
        test_episodes=2,
    )
    some = [Variant("none", recipe.model_copy(update={"keep": "last"})), Variant("best", recipe)]
    monkeypatch.setattr(module, "variants", lambda recipe: some)
    if not processes:  # a fresh interpreter takes longer to load torch than all these runs
        monkeypatch.setattr(module, "ProcessPoolExecutor", lambda jobs, mp_context: ThreadPoolExecutor(1))
    lines: list[str] = []
    found = ablate(recipe, [1, 2], tmp_path, told=lines.append)
    assert lines[0] == "4 runs, 0 of them done."
    assert {name: len(tables) for name, tables in found.items()} == {"none": 2, "best": 2}
    monkeypatch.setattr(module, "variants", lambda recipe: some[:1])
    monkeypatch.setattr(module, "ProcessPoolExecutor", lambda jobs, mp_context: ThreadPoolExecutor(1))
    assert ablate(recipe, [1], tmp_path / "alone")["none"] == found["none"][:1]
    assert (tmp_path / "none-1" / "best").resolve().name == "step-0001"
    monkeypatch.setattr(module, "variants", lambda recipe: some)
    again: list[str] = []
    assert ablate(recipe, [1, 2], tmp_path, told=again.append) == found
    assert again == ["4 runs, 4 of them done."]
    assert len(list(rows(found))) == 4
    assert table(found, recipe, [1, 2]).row_count == 4
    picture(found, tmp_path / "ablation.png")
    assert (tmp_path / "ablation.png").stat().st_size > 10_000
    some[0] = Variant("none", recipe.model_copy(update={"steps": 2}))
    with pytest.raises(BadInput, match="holds a run of another recipe"):
        ablate(recipe, [1], tmp_path)


def test_intervals_are_student_s_and_one_seed_has_none() -> None:
    found = mean_of([0.0, 1.0, 0.5])
    assert found.mean == pytest.approx(0.5)
    assert found.half == pytest.approx(4.302653 * 0.5 / 3**0.5, rel=1e-5)
    assert isnan(mean_of([0.3]).half)
    assert str(mean_of([0.3])) == "0.30"
