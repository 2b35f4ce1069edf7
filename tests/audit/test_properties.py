"""The properties: what the package's shapings have and lack, and that each check finds its own fault."""

from collections.abc import Callable
from math import log1p, sqrt

import pytest

from inspect_dining.audit.assessment import Audit, audit
from inspect_dining.audit.probe import Probe
from inspect_dining.scorers.shaping import (
    Shaping,
    Throughput,
    gini_weights,
    gini_welfare,
    meal_gated,
    paper,
    proportional,
    shaping,
)
from inspect_dining.scorers.terms import Terms
from tests.audit import shapings

Reward = Callable[[Terms], float]

ALL = {
    "silence_never_on_top",
    "playing_on_pays",
    "further_meals_pay",
    "further_meals_pay_in_deadlock",
    "starving_never_wins",
    "starving_costs",
    "deadlock_costs",
    "later_deadlock",
    "bounded",
}

NO_REASON_TO_EAT = {"playing_on_pays", "further_meals_pay", "further_meals_pay_in_deadlock"}


def failed(found: Audit) -> set[str]:
    assert {one.name for one in found.properties} == ALL
    return {one.name for one in found.failed}


def detail(found: Audit, name: str) -> str:
    return next(one.detail for one in found.properties if one.name == name)


def of(function: Reward, n: int = 5, rounds: int = 15) -> Audit:
    return audit(Shaping("own", function), n, rounds)


@pytest.mark.parametrize(
    ("throughput", "lacks"),
    [
        ("seat_rounds", {"silence_never_on_top", *NO_REASON_TO_EAT, "bounded"}),
        ("optimum", {"silence_never_on_top", "bounded"}),
    ],
)
def test_at_five_rounds_the_papers_faults_hang_on_its_normaliser(throughput: Throughput, lacks: set[str]) -> None:
    assert failed(audit(shaping("paper", throughput=throughput), 5, 5)) == lacks


@pytest.mark.parametrize("throughput", ["seat_rounds", "optimum"])
def test_at_thirty_rounds_the_paper_pays_for_even_tables_but_not_for_the_meals_on_the_way(
    throughput: Throughput,
) -> None:
    found = audit(shaping("paper", throughput=throughput), 5, 30)
    lacks = NO_REASON_TO_EAT if throughput == "seat_rounds" else NO_REASON_TO_EAT - {"playing_on_pays"}
    assert failed(found) == {"silence_never_on_top", *lacks, "bounded"}


def test_a_first_meal_before_a_deadlock_lowers_the_papers_reward_and_the_audit_says_why() -> None:
    found = audit(shaping("paper"), 5, 5)
    assert detail(found, "further_meals_pay_in_deadlock").startswith(
        "Deadlocked in round 4: 1 meal (1/0/0/0/0) earns -0.028, 0 meals (0/0/0/0/0) earns 0.000 "
        "(throughput +0.020, meal_variance -0.048)."
    )


@pytest.mark.parametrize(("rounds", "first", "second"), [(5, "0.972", "0.968"), (30, "0.955", "0.935")])
def test_meal_gated_shows_its_fault_in_the_second_meal(rounds: int, first: str, second: str) -> None:
    found = audit(shaping("meal_gated"), 5, rounds)
    assert "silence_never_on_top" not in failed(found)
    assert f"2 meals (1/1/0/0/0) earns {second}, 1 meal (1/0/0/0/0) earns {first}" in detail(found, "further_meals_pay")


def test_a_deadlock_without_a_meal_costs_nothing_under_meal_gated() -> None:
    assert "0 meals (0/0/0/0/0): without deadlock earns 0.000" in detail(
        audit(shaping("meal_gated"), 5, 5), "deadlock_costs"
    )


@pytest.mark.sampled(9)
@pytest.mark.parametrize("rounds", [7, 8, 13, 30, 50])
@pytest.mark.parametrize("n", [3, 4, 5, 9, 15])
def test_proportional_has_every_property(n: int, rounds: int) -> None:
    found = audit(shaping("proportional"), n, rounds)
    assert not failed(found)
    assert found.exact


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("n", "rounds"), [(2, 3), (3, 15), (3, 49), (6, 30), (9, 31), (15, 30), (18, 20), (20, 12)])
def test_gini_welfare_has_every_property_also_where_the_former_training_reward_had_not(n: int, rounds: int) -> None:
    found = audit(shaping("gini_welfare"), n, rounds)
    assert not failed(found)
    assert found.exact


@pytest.mark.slow
@pytest.mark.parametrize("n", range(3, 16))
def test_proportional_has_every_property_at_every_size(n: int) -> None:
    for rounds in range(7, 51):
        found = audit(shaping("proportional"), n, rounds)
        assert not failed(found), (n, rounds, found.failed)
        assert found.exact


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("function", "lacks"),
    [
        (proportional, set()),
        (shapings.silence, {"silence_never_on_top", *NO_REASON_TO_EAT}),
        (shapings.nothing_in_deadlock, {"further_meals_pay_in_deadlock", "starving_never_wins", "starving_costs"}),
        (shapings.most_meals, {"starving_never_wins", "starving_costs"}),
        (shapings.free_deadlock, {"deadlock_costs"}),
        (shapings.hurry, {"later_deadlock", "bounded"}),
        (shapings.endless, {"bounded"}),
        (
            shapings.enough,
            {*NO_REASON_TO_EAT, "starving_never_wins", "starving_costs"},
        ),
        (
            shapings.careless,
            {"further_meals_pay", "further_meals_pay_in_deadlock", "starving_never_wins", "starving_costs"},
        ),
    ],
)
def test_each_check_finds_its_fault_and_no_other_does(function: Reward, lacks: set[str]) -> None:
    assert failed(of(function)) == lacks


def test_a_fault_that_needs_a_lost_turn_is_found_and_said_so() -> None:
    assert detail(of(shapings.careless), "further_meals_pay").startswith("25% of turns lost: ")


def test_starving_the_seats_that_do_not_count_is_found_in_a_shaping_that_favours_one() -> None:
    """Tried in sorted order only, a favourite that happens to eat most would never starve."""
    found = of(shapings.favourite, n=3, rounds=20)
    assert {"starving_never_wins", "starving_costs"} <= failed(found)
    assert "the order of the seats counts" in found.method


@pytest.mark.parametrize("function", [paper, meal_gated, proportional, gini_welfare])
def test_by_enumeration_a_shaping_lacks_what_it_lacks_by_structure(function: Reward) -> None:
    """The same function under a name that the audit does not know must get the same verdicts."""
    name = function.__name__
    for n, rounds in ((3, 12), (5, 5), (5, 11), (2, 9)):
        assert failed(of(function, n, rounds)) == failed(audit(shaping(name), n, rounds))


def test_what_cannot_happen_in_so_few_rounds_passes_and_says_so() -> None:
    found = audit(shaping("paper"), 5, 5)
    empty = [one for one in found.properties if not one.tried]
    assert [one.name for one in empty] == ["starving_never_wins", "starving_costs"]
    assert all(one.passed and one.detail.startswith("Nothing to compare: ") for one in empty)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 11, 15])
def test_a_shaping_that_converges_is_bounded_at_every_size(n: int) -> None:
    """Throughput rises with the horizon towards its limit; that must not be taken for growth without end."""
    assert "bounded" not in failed(of(lambda t: t.throughput - 0.1 * t.deadlocked, n, 5))
    assert "bounded" not in failed(of(lambda t: 1 / log1p(t.rounds), n, 5))


@pytest.mark.parametrize("growth", [log1p, sqrt, float])
def test_a_shaping_that_grows_however_slowly_is_not_bounded(growth: Callable[[float], float]) -> None:
    assert "bounded" in failed(of(lambda t: growth(t.eaten) - 0.1 * t.deadlocked))
    assert "bounded" in failed(of(lambda t: -growth(max(t.meals)) - 0.1 * t.deadlocked))


@pytest.mark.parametrize("rounds", [2, -1])
def test_a_size_that_is_no_game_is_refused(rounds: int) -> None:
    with pytest.raises(ValueError, match=f"rounds={rounds} is not accepted"):
        audit(shaping("paper"), 5, rounds)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", shapings.ADVERSARIAL)
def test_an_adversarial_shaping_is_found_out(name: str) -> None:
    function, lacks = shapings.ADVERSARIAL[name]
    assert lacks in failed(of(function, 5, 20))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", shapings.SOUND)
def test_a_sound_shaping_passes_whatever_its_scale(name: str) -> None:
    found = of(shapings.SOUND[name], 5, 20)
    assert not failed(found)
    assert not found.exact, "of a function that the audit does not know not every episode can be tried"


def test_margins_are_the_same_at_every_scale() -> None:
    plain, tiny = of(gini_welfare, 4, 12), of(lambda t: 1e-9 * gini_welfare(t) + 7, 4, 12)
    for one, other in zip(plain.properties, tiny.properties, strict=True):
        assert (one.margin is None) == (other.margin is None)
        if one.margin is not None and other.margin is not None:
            assert one.margin == pytest.approx(other.margin, rel=1e-4, abs=1e-6)


def test_the_margins_of_gini_welfare_are_those_of_its_formula() -> None:
    """At n = 5, T = 30: a deadlock costs .1, and a further meal least where it is the first of a new round of meals."""
    found = {one.name: one for one in audit(shaping("gini_welfare"), 5, 30).properties}
    span = Probe(shaping("gini_welfare"), 5, 30).span
    assert found["deadlock_costs"].margin == pytest.approx(0.1 / span)
    worth = 0.1 / 5 + 0.2 / 25 + 0.7 / 5**8
    best = sum(weight * eaten for weight, eaten in zip(gini_weights(5), (5, 5, 6, 6, 6), strict=True))
    assert found["further_meals_pay"].margin == pytest.approx(worth / best / span)


@pytest.mark.slow
def test_a_large_table_is_audited_in_bounded_time_and_memory() -> None:
    """At n = 1000 an audit took 19 GB; now it tries some numbers of meals, and says so."""
    found = audit(shaping("gini_welfare"), 30, 60)
    assert not failed(found)
    assert not found.exact
    assert "not every number of meals was tried" in found.method
