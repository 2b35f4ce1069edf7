"""The bonus on seats that act apart, against the textbook's mutual information."""

import math

import pytest
import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from hypothesis import given
from hypothesis import strategies as st

from inspect_dining.table import Rules
from inspect_dining.training.learn import diversity
from inspect_dining.training.learn.diversity import apart, first_replies, information, pull
from inspect_dining.training.learn.objective import Group
from inspect_dining.training.learn.scoring import PlainRows
from inspect_dining.training.learn.updates import Updater
from inspect_dining.training.play.rollouts import Dinner, Play


@pytest.fixture
def groups(seated: Dinner) -> list[Group]:
    """Random games of two sizes, one size twice."""
    seated.policy.max_tokens = 2
    made = []
    for g, rules in enumerate((Rules(n=3, rounds=3), Rules(n=2, rounds=3), Rules(n=3, rounds=3))):
        episodes = tuple(seated.play([Play(rules, g, f"{g}/{member}") for member in range(3)]))
        made.append(Group(str(g), episodes, (0.0, 1.0, 2.0)))
    return made


def textbook(joint: list[list[float]]) -> float:
    """The sum of p(s, a) log p(s, a) / (p(s) p(a)), seats being equally likely."""
    seats = len(joint)
    marginal = [sum(row[a] for row in joint) / seats for a in range(len(joint[0]))]
    return sum(p / seats * math.log(p / marginal[a]) for row in joint for a, p in enumerate(row))


@given(st.lists(st.lists(st.floats(-6, 6), min_size=3, max_size=3), min_size=1, max_size=5))
def test_information_is_the_textbooks(scores: list[list[float]]) -> None:
    table = torch.tensor(scores, dtype=torch.float64)
    assert float(information(table)) == pytest.approx(textbook(torch.softmax(table, -1).tolist()), abs=1e-12)


def test_seats_that_are_alike_have_none_and_seats_that_never_agree_have_all() -> None:
    assert float(information(torch.zeros(4, 3))) == pytest.approx(0, abs=1e-6)
    assert float(information(torch.eye(3) * 60)) == pytest.approx(math.log(3), abs=1e-6)


def test_openings_share_the_step_and_every_process_tells_the_same_replies_apart(groups: list[Group]) -> None:
    """Half of a step's groups in this process: shares are of all groups, or two processes would pull twice as hard."""
    whole = apart(groups, first_replies(groups), planned=6, coefficient=1.0)
    assert [len(opening.prompts) for opening in whole.openings] == [3, 2]
    assert [opening.share for opening in whole.openings] == [2 / 6, 1 / 6]
    again = apart(groups[::-1], reversed(first_replies(groups)), planned=6, coefficient=1.0)
    assert again.replies == whole.replies
    assert len(whole.replies) == len(set(whole.replies)) <= diversity.REPLIES


@pytest.mark.parametrize("micro_tokens", [10**6, 80])
def test_its_gradient_is_that_of_the_formula(
    groups: list[Group], seated: Dinner, micro_tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In float64, against autograd through one seat and one reply at a time."""
    monkeypatch.setattr(diversity, "ENOUGH", 99.0)
    model, bonus = seated.policy.model, apart(groups, first_replies(groups), planned=3, coefficient=0.7)
    total = torch.zeros((), dtype=torch.float64)
    for opening in bonus.openings:
        rows = []
        for prompt in opening.prompts:
            each = []
            for reply in bonus.replies:
                logits = model(input_ids=torch.tensor([prompt + reply]), use_cache=False).logits[0]
                logps = torch.log_softmax(logits, -1)[range(len(prompt) - 1, len(prompt + reply) - 1), list(reply)]
                each.append(logps.sum())
            rows.append(torch.softmax(torch.stack(each), 0))
        pi = torch.stack(rows)
        mean = pi.mean(0)
        total = total + opening.share * ((pi * pi.log()).sum(1).mean() - (mean * mean.log()).sum())
    model.zero_grad()
    (-0.7 * total).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    expected = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    learner = Updater(seated.policy, Accelerator(cpu=True), micro_tokens=micro_tokens)
    update = learner.gradient([], apart=bonus)
    assert update.information == pytest.approx(float(total.detach()), rel=1e-9)
    scale = max(float(g.abs().max()) for g in expected)
    assert scale > 0
    for parameter, wanted in zip(model.parameters(), expected, strict=True):
        assert parameter.grad is not None
        assert float((parameter.grad - wanted).abs().max()) <= 1e-9 * scale


def test_it_pulls_alike_seats_apart(groups: list[Group], seated: Dinner) -> None:
    learner = Updater(seated.policy, Accelerator(cpu=True))
    bonus = apart(groups, first_replies(groups), planned=3, coefficient=1.0)
    found = [learner.update([], 3e-3, apart=bonus).information for _ in range(60)]
    assert found[0] is not None
    assert found[-1] is not None
    assert found[0] < diversity.ENOUGH / 4 < diversity.ENOUGH / 2 < found[-1]


def test_it_lets_go_where_seats_are_apart(groups: list[Group], seated: Dinner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an end it would make every seat sure of its move before the reward has said which."""
    monkeypatch.setattr(diversity, "ENOUGH", 0.0)
    bonus = apart(groups, first_replies(groups), planned=3, coefficient=1.0)
    update = Updater(seated.policy, Accelerator(cpu=True)).gradient([], apart=bonus)
    assert update.information is not None
    assert update.gradient == 0.0


def test_no_bonus_is_told_as_none(seated: Dinner, groups: list[Group]) -> None:
    assert Updater(seated.policy, Accelerator(cpu=True)).gradient([]).information is None
    assert pull(PlainRows(seated.policy, 100), apart([], [], 1, 1.0)) == 0.0
