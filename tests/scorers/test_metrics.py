"""Metrics as an evaluation computes them: through Inspect's own epochs, reducers and registration."""

from types import SimpleNamespace

import pytest
import tiktoken
from inspect_ai.scorer import Metric, Score
from pytest_inspect_evals.metrics import run_metrics
from scipy import stats

from inspect_dining.scorers.metrics import convergence, convergence_numbers, per_size, pooled, survival


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


def numbers(metrics: list[Metric], epochs: list[list[Score]]) -> dict[str, float]:
    """What the metrics give, as numbers."""
    return {
        name: float(value) for name, value in run_metrics(metrics, epochs).items() if isinstance(value, (int, float))
    }


def test_epochs_are_episodes_of_their_own_and_games_are_the_unit() -> None:
    """Epochs of a game share its ties: counted as games of their own they made a 95% interval cover 76%."""
    epochs = [[episode(0.25), episode(0.5)], [episode(1.0), episode(0.0)], [episode(0.75), episode(1.0)]]
    found = run_metrics([pooled(), per_size()], epochs)
    assert found["mean"] == pytest.approx(3.5 / 6)
    assert found["stderr"] == pytest.approx(stats.sem([0.375, 0.5, 0.875]))
    assert (found["n05_episodes"], found["n05_games"]) == (6, 3)


@pytest.mark.slow
def test_the_interval_of_repeated_games_is_that_of_their_means() -> None:
    values = [[(7 * game % 30) / 30, (11 * game % 30) / 30] for game in range(30)]
    found = numbers([per_size()], [[episode(value) for value in own] for own in values])
    means = [sum(own) / 2 for own in values]
    low, high = stats.t.interval(0.95, 29, loc=sum(means) / 30, scale=stats.sem(means))
    assert found["n05_low"] <= low + 1e-9
    assert found["n05_high"] >= high - 1e-9
    assert found["n05_high"] - found["n05_low"] == pytest.approx(high - low, rel=0.02)
    shares = numbers([per_size(share=True)], [[episode(float(v > 0.5)) for v in own] for own in values])
    assert shares["n05_games"] == 30
    assert "n05_low" in shares


def test_table_sizes_are_told_apart() -> None:
    found = run_metrics([per_size()], [[episode(1.0, 5)], [episode(0.5, 5)], [episode(0.25, 15)]])
    assert (found["n05"], found["n15"]) == (0.75, 0.25)
    assert (found["n05_episodes"], found["n15_episodes"]) == (2, 1)


def test_the_interval_of_a_mean_is_students() -> None:
    values = [number / 31 for number in range(32)]  # without skew, which would widen it
    found = run_metrics([per_size()], [[episode(value)] for value in values])
    low, high = stats.t.interval(0.95, len(values) - 1, loc=0.5, scale=stats.sem(values))
    assert (found["n05_low"], found["n05_high"]) == pytest.approx((low, high))


@pytest.mark.parametrize("episodes", [2, 10, 24])
def test_of_few_games_no_interval_is_given_since_none_would_hold(episodes: int) -> None:
    found = run_metrics([per_size()], [[episode(number / 31)] for number in range(episodes)])
    assert "n05_low" not in found
    assert found["n05_episodes"] == episodes


@pytest.mark.slow
def test_where_hardly_a_game_had_a_meal_a_score_of_meals_has_no_interval() -> None:
    """Thirty silent games differ by their lost turns a little; one meal would move the mean far out of the interval."""
    values = [[Score(value=n / 1e4, answer="0/0/0/0/0", metadata={"n": 5, "record": str(n)})] for n in range(30)]
    assert "n05_low" not in run_metrics([per_size(of_meals=True)], values)
    assert "n05_low" in run_metrics([per_size(of_meals=False)], values)
    for number, (score,) in enumerate(values):
        score.answer = "1/0/0/0/0" if number < 10 else score.answer
    assert "n05_low" in run_metrics([per_size(of_meals=True)], values)


@pytest.mark.slow
def test_the_interval_of_a_bounded_score_ends_where_the_score_does() -> None:
    """Some episodes far above 0 and most near it gave an efficiency between -0.05 and 0.10."""
    values = [0.001 * number for number in range(28)] + [0.9, 0.95]
    free = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert free.low < 0
    few = numbers([per_size(least=0, most=1)], [[episode(value)] for value in values])
    assert few["n05_low"] == 0
    assert few["n05_high"] >= free.high
    most = numbers([per_size(least=0, most=1)], [[episode(1 - value)] for value in values])
    assert (most["n05_low"], most["n05_high"]) == pytest.approx((1 - few["n05_high"], 1))


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
    most = run_metrics([per_size(share=True)], [[episode(float(number < 26))] for number in range(30)])
    assert (most["n05_low"], most["n05_high"]) == pytest.approx((0.703, 0.947), abs=5e-4)


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
