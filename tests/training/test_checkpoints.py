"""The choice of a checkpoint: by selection games, the earlier where they cannot tell."""

import pytest

from inspect_dining.training.keep.checkpoints import Candidate, candidate, choose


def made(step: int, mean: float, error: float = 0.05, meals: float = 3.0) -> Candidate:
    return Candidate(step, mean, error, meals, f"h{step}")


def test_the_highest_mean_wins_where_it_stands_out() -> None:
    choice = choose([made(0, -0.1), made(20, 0.5), made(40, 0.8), made(60, 0.6)])
    assert choice.step == 40
    assert choice.reason == "Step 40 has the highest mean on the selection games (0.800)."


def test_the_earliest_within_one_standard_error_of_the_best_is_kept() -> None:
    choice = choose([made(0, -0.1), made(20, 0.72), made(40, 0.77), made(60, 0.78)])
    assert choice.step == 40
    assert (
        "is the earliest within one standard error (0.050) of the best on the selection games (step 60, 0.780)"
        in choice.reason
    )


def test_the_base_model_is_a_candidate() -> None:
    """A run that only harms must end where it began."""
    assert choose([made(0, 0.5), made(20, 0.1)]).step == 0


def test_what_does_not_eat_is_never_chosen_whatever_it_earns() -> None:
    """Under the paper's reward silence earns 1.0, the most there is."""
    assert choose([made(0, 0.1), made(20, 1.0, meals=0.0)]).step == 0
    assert choose([made(0, 0.1, meals=0.0), made(20, 1.0, meals=0.0)]).reason.startswith("No checkpoint ate")


def test_sizes_and_ways_to_play_weigh_alike_and_the_error_is_of_their_mean() -> None:
    found = candidate(20, [[1.0, 1.0, 1.0, 1.0], [0.0, 1.0]], 2.0, "h")
    assert found.mean == pytest.approx(0.75)
    assert found.error == pytest.approx((0.5 / 2) ** 0.5 / 2)
