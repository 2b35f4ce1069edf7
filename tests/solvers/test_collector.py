"""The collector during a dinner: run less often, and afterwards as it was."""

import gc
from collections.abc import Iterator

import pytest

from inspect_dining.solvers.collector import collected_seldom


@pytest.fixture(autouse=True)
def threshold() -> Iterator[None]:
    usual = gc.get_threshold()
    yield
    gc.set_threshold(*usual)


def test_the_threshold_is_back_after_the_last_of_several_games_also_one_that_fails() -> None:
    gc.set_threshold(700, 11, 12)
    with collected_seldom():
        with pytest.raises(ZeroDivisionError), collected_seldom():
            raise ZeroDivisionError
        assert gc.get_threshold() == (50_000, 11, 12)
    assert gc.get_threshold() == (700, 11, 12)


@pytest.mark.parametrize("host", [0, 50_001, 200_000])
def test_what_a_host_has_switched_off_or_set_higher_stays(host: int) -> None:
    gc.set_threshold(host, 10, 10)
    with collected_seldom():
        assert gc.get_threshold() == (host, 10, 10)
    assert gc.get_threshold() == (host, 10, 10)


def test_a_threshold_that_somebody_sets_during_a_game_stays() -> None:
    gc.set_threshold(700, 10, 10)
    with collected_seldom():
        gc.set_threshold(1_000, 10, 10)
    assert gc.get_threshold() == (1_000, 10, 10)
