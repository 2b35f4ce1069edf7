"""Metrics as an evaluation computes them: through Inspect's own epochs, reducers and registration."""

from types import SimpleNamespace

import pytest
import tiktoken
from inspect_ai.scorer import Score
from pytest_inspect_evals.metrics import run_metrics
from scipy import stats

from inspect_dining.scorers.metrics import convergence, convergence_numbers, per_size, pooled, survival, wilson


@pytest.fixture(autouse=True)
def no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mock model counts tokens with an encoding that it would fetch; what it counts matters to nothing here."""
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: SimpleNamespace(encode=lambda said, **_: said.split()))


def episode(
    value: float, n: int = 5, record: str = "r", ended: tuple[int, bool] = (30, False), first: str = ""
) -> Score:
    played, deadlocked = ended
    about = {"n": n, "record": record, "rounds": 30, "played": played, "deadlocked": deadlocked}
    return Score(value=value, metadata={**about, "first_round": first or "a" * n})


def test_epochs_are_episodes_of_their_own() -> None:
    """A reducer that averages the epochs of a sample first would hide the spread between replies to the same game."""
    epochs = [[episode(0.25), episode(0.75)], [episode(1.0), episode(0.0)]]
    found = run_metrics([pooled(), per_size()], epochs)
    assert found["mean"] == 0.5
    assert found["stderr"] == pytest.approx(stats.sem([0.25, 0.75, 1.0, 0.0]))
    assert found["n05_episodes"] == 4


def test_table_sizes_are_told_apart() -> None:
    found = run_metrics([per_size()], [[episode(1.0, 5)], [episode(0.5, 5)], [episode(0.25, 15)]])
    assert (found["n05"], found["n15"]) == (0.75, 0.25)
    assert (found["n05_episodes"], found["n15_episodes"]) == (2, 1)


def test_the_interval_of_a_mean_is_students() -> None:
    values = [0.1, 0.4, 0.4, 0.9]
    found = run_metrics([per_size()], [[episode(value)] for value in values])
    low, high = stats.t.interval(0.95, len(values) - 1, loc=0.45, scale=stats.sem(values))
    assert (found["n05_low"], found["n05_high"]) == pytest.approx((low, high))


def test_the_interval_of_a_bounded_score_ends_where_the_score_does() -> None:
    """Three episodes at 0 and one at 0.1 gave an efficiency between -0.05 and 0.10."""
    free = stats.ttest_1samp([0.0, 0.0, 0.0, 0.1], 0).confidence_interval(0.95)
    assert free.low < 0
    few = run_metrics([per_size(least=0, most=1)], [[episode(value)] for value in (0.0, 0.0, 0.0, 0.1)])
    assert (few["n05_low"], few["n05_high"]) == pytest.approx((0, free.high))
    most = run_metrics([per_size(least=0, most=1)], [[episode(value)] for value in (1.0, 1.0, 1.0, 0.9)])
    assert (most["n05_low"], most["n05_high"]) == pytest.approx((1 - free.high, 1))


@pytest.mark.parametrize("episodes", [1, 30])
def test_episodes_that_do_not_differ_have_no_interval(episodes: int) -> None:
    """Thirty equal values would give a width of 0, as if the mean were known exactly."""
    found = run_metrics([per_size()], [[episode(0.5)] for _ in range(episodes)])
    assert "n05_low" not in found
    assert found["n05"] == 0.5


def test_the_interval_of_a_share_is_wilsons_and_stays_within_0_and_1() -> None:
    """All of four without deadlock must not read as certain: Wilson's interval for 4 of 4 begins at 0.51."""
    found = run_metrics([per_size(share=True)], [[episode(1.0)] for _ in range(4)])
    z2 = stats.norm.ppf(0.975) ** 2
    assert found["n05_low"] == pytest.approx(4 / (4 + z2))
    assert found["n05_high"] == pytest.approx(1.0)
    assert wilson(26, 30) == pytest.approx((0.703, 0.947), abs=5e-4)


def test_equal_records_are_counted_once_among_the_distinct() -> None:
    """Thirty greedy replays of one game are one observation; the number beside the mean has to say so."""
    found = run_metrics(
        [per_size()], [[episode(0.5, record="a")], [episode(0.5, record="a")], [episode(0.5, record="b")]]
    )
    assert (found["n05_episodes"], found["n05_distinct"]) == (3, 2)


def test_survival_falls_at_the_round_of_the_deadlock() -> None:
    ends = [(30, False), (5, True), (6, True), (12, True)]
    found = run_metrics([survival()], [[episode(0.0, ended=end)] for end in ends])
    assert found == {"n05_round05": 0.75, "n05_round12": 0.25, "n05_round30": 0.25}


def test_convergence_compares_what_was_alike_with_independent_seats() -> None:
    """Two of four first rounds alike; eaters and thinkers in equal numbers would be alike half the time at n = 2."""
    firsts = ["ee", "ff", "ef", "fe"]
    found = run_metrics([convergence()], [[episode(0.0, n=2, first=first)] for first in firsts])
    assert found == {"n02_alike": 0.5, "n02_expected": 0.5, "n02_excess": 0.0}


def test_a_lost_turn_is_never_alike() -> None:
    assert convergence_numbers(["00", "00"]) == (0.0, 0.0)


def test_no_excess_is_told_where_everybody_always_does_the_same() -> None:
    found = run_metrics([convergence()], [[episode(0.0, first="aaaaa")] for _ in range(3)])
    assert (found["n05_alike"], found["n05_expected"]) == (1.0, 1.0)
    assert "n05_excess" not in found


def test_a_run_of_which_nothing_is_scored_has_no_number() -> None:
    found = run_metrics([pooled()], [[Score.unscored(reason="cut: tokens")]])
    assert all(value != value for value in found.values())
