"""The pictures of a comparison: complete, the same each time, and drawn for any mix of models and sizes."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from inspect_dining.analysis.comparison.compare import Comparison, compare
from inspect_dining.analysis.inputs.collection import read
from inspect_dining.analysis.show.figures.plots import (
    deadlock_figure,
    forest_figure,
    seats_figure,
    survival_figure,
    titles,
)
from inspect_dining.analysis.show.figures.style import COLOURS, look_of
from inspect_dining.analysis.show.formatting import letter
from inspect_dining.table import Rules
from tests.analysis.made import log, run, sample


def _found(*sizes: int, models: int = 2, separate: bool = False) -> Comparison:
    players = ["random", "odd_even", "lehmann_rabin", "left_first"]
    rules = [Rules(n=n, rounds=6) for n in sizes]
    logs = [run(f"m/{i}", players[i % 4], rule, 4) for i in range(models) for rule in rules]
    return compare(read(logs), separate=separate, ladder_episodes=3)


def _words(svg: str) -> str:
    ElementTree.fromstring(svg)
    return svg


@pytest.mark.slow
def test_every_model_and_size_is_in_every_figure() -> None:
    """Matplotlib notes every text that it outlines in a comment."""
    found = _found(2, 5)
    for draw in (deadlock_figure, survival_figure, seats_figure):
        words = _words(draw(found))
        for text in ("A m/0", "B m/1", "n = 2", "n = 5"):
            assert f"<!-- {text} -->" in words
    forest = forest_figure(found)
    assert forest is not None
    assert forest.count("<!-- B - A -->") == 2
    assert "scripted random player" in deadlock_figure(found)


@pytest.mark.slow
def test_figures_are_the_same_bytes_each_time() -> None:
    assert deadlock_figure(_found(3)) == deadlock_figure(_found(3))


def test_models_differ_in_more_than_colour() -> None:
    """More models than colours, and print without any: marker and dash tell them apart too."""
    row = _found(2).sections[0].rows[0]
    looks = [look_of(replace(row, letter=letter(place))) for place in range(40)]
    assert len(set(looks)) == len(looks)
    assert len({(one.marker, one.dash) for one in looks[: len(COLOURS)]}) == len(COLOURS)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("sizes", [(3,), (2, 3, 4, 5), tuple(range(2, 21))])
def test_any_number_of_sizes_is_drawn(sizes: tuple[int, ...]) -> None:
    found = _found(*sizes)
    for draw in (deadlock_figure, survival_figure, seats_figure, forest_figure):
        svg = draw(found)
        assert svg is not None
        assert f"n = {sizes[-1]}" in _words(svg)


@pytest.mark.slow
def test_a_model_without_a_scored_episode_does_not_stop_the_others() -> None:
    rules = Rules(n=3, rounds=6)
    down = log("m/down", [sample(None, "n03-s0-e000", rules, error="RuntimeError: down")], rounds=6)
    found = compare(read([run("m/up", "random", rules, 4), down]), ladder_episodes=3)
    for draw in (deadlock_figure, survival_figure, seats_figure):
        assert "A m/up" in draw(found)
    only = compare(read([down]), ladder_episodes=0)
    assert forest_figure(only) is None
    for draw in (deadlock_figure, survival_figure, seats_figure):
        _words(draw(only))


def test_tables_of_one_n_are_told_apart_by_what_differs() -> None:
    logs = [run("m/x", "random", Rules(n=3, rounds=6, patience=p), 3) for p in (1, 3)]
    logs[1].eval.task_id = "another"
    found = compare(read(logs), separate=True, ladder_episodes=0)
    assert titles(found.sections) == ["n = 3, patience 1", "n = 3, patience 3"]
