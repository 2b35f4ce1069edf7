"""Exploration is paid over the six actions, not over spelling, and ends."""

from collections.abc import Iterator, Sequence
from math import log

import pytest
import torch

from inspect_dining.philosophers.tokens import Ids
from inspect_dining.training.learn import exploration
from inspect_dining.training.learn.choices import Choices
from inspect_dining.training.learn.exploration import Explore, pay
from inspect_dining.training.learn.objective import Pair
from inspect_dining.training.learn.scoring import PlainRows, Scored
from inspect_dining.training.play.rollouts import Dinner
from inspect_dining.training.recipe import Recipe
from inspect_dining.training.schedule import explore


def pairs(dinner: Dinner) -> list[Pair]:
    """Pairs of three views, one of them met with two replies."""
    views = dinner.policy.prompts.encode([f"Round {'1' * i} of 30." for i in (1, 3, 2)])
    met = [(0, 5, 0.5), (0, 6, 0.25), (1, 5, 1.0), (2, 7, 0.125)]
    return [Pair(views[i], (reply,), (-1.0,), 0.0, share) for i, reply, share in met]


@pytest.fixture(autouse=True)
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bonus is paid however evenly a random model chooses."""
    monkeypatch.setattr(exploration, "ENOUGH", 2.0)


@pytest.mark.parametrize("micro_tokens", [1, 65536])
def test_the_gradient_is_that_of_the_entropy_weighed_by_turns(seated: Dinner, micro_tokens: int) -> None:
    choices, model = Choices(seated.policy.prompts), seated.policy.model
    model.zero_grad(set_to_none=True)
    pay(PlainRows(seated.policy, micro_tokens), Explore(choices, 0.1), pairs(seated))
    made = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad(set_to_none=True)
    loss = torch.zeros((), dtype=torch.float64)
    for pair in pairs(seated):
        scored, _, exists = seated.policy.logps(choices.pairs([pair.prompt]))
        logps = torch.log_softmax((scored * exists).sum(1), 0)
        loss = loss + 0.1 * pair.share * (logps.exp() * logps).sum()
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert torch.allclose(made[name], parameter.grad, atol=1e-12)
    assert max(float(slope.abs().max()) for slope in made.values()) > 1e-6


class Table:
    """Scores replies of one id by a row of logits, whatever the prompt."""

    micro_tokens = 1

    def __init__(self) -> None:
        self.logits = torch.randn(400, dtype=torch.float64).requires_grad_()

    def passes(self, given: Sequence[tuple[Ids, Ids]], entropy: bool = False) -> Iterator[Scored]:
        logps = torch.log_softmax(self.logits, 0)[[reply[0] for _, reply in given]]
        yield Scored(torch.arange(len(given)), logps, logps, len(given))


def test_no_other_spelling_moves(seated: Dinner) -> None:
    """A bonus on all tokens would raise whatever else a model could write, too."""
    choices, table = Choices(seated.policy.prompts), Table()
    pay(table, Explore(choices, 0.1), pairs(seated)[:1])
    slope = table.logits.grad
    assert slope is not None
    assert set(slope.abs().gt(1e-15).nonzero().flatten().tolist()) == {name[0] for name in choices.names}
    assert float(slope.sum().abs()) < 1e-12
    pi = torch.softmax(table.logits.detach()[[name[0] for name in choices.names]], 0)
    commonest, rarest = (choices.names[int(pick)][0] for pick in (pi.argmax(), pi.argmin()))
    assert slope[commonest] > 0 > slope[rarest]


def test_what_it_returns_is_the_mean_entropy_of_the_turns(seated: Dinner) -> None:
    bonus, given, rows = Explore(Choices(seated.policy.prompts), 0.0), pairs(seated), PlainRows(seated.policy, 65536)
    alone = [pay(rows, bonus, [pair]) for pair in given]
    mean = sum(h * pair.share for h, pair in zip(alone, given, strict=True)) / sum(pair.share for pair in given)
    assert all(0 < h <= log(6) for h in alone)
    assert pay(rows, bonus, given) == pytest.approx(mean)
    assert pay(rows, bonus, []) == 0


@pytest.mark.parametrize(("enough", "paid"), [(0.999, False), (1.001, True)])
def test_nothing_is_paid_where_the_entropy_is_enough(
    seated: Dinner, monkeypatch: pytest.MonkeyPatch, enough: float, paid: bool
) -> None:
    """Paid on without an end it drowned what credit there was: all six actions became alike likely."""
    table, bonus = Table(), Explore(Choices(seated.policy.prompts), 0.1)
    mean = pay(table, Explore(bonus.choices, 0.0), pairs(seated))
    table.logits.grad = None
    monkeypatch.setattr(exploration, "ENOUGH", enough * mean)
    assert pay(table, bonus, pairs(seated)) == mean
    assert (table.logits.grad is not None) == paid


def test_the_pay_falls_steadily_and_ends() -> None:
    recipe = Recipe(explore=0.01, explore_until=0.5, steps=100)
    assert [explore(recipe, step, 0) for step in (0, 25, 50, 99)] == pytest.approx([0.01, 0.005, 0.0, 0.0])
    # After a restart it begins anew.
    assert explore(recipe, 60, 60) == 0.01
