"""Sampling and recomputing: what is drawn is what the model's distribution says, whatever else is in the batch."""

import pytest
import torch
from scipy import stats
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from inspect_dining.philosophers.tokens import Ids
from inspect_dining.training.play import policy as module
from inspect_dining.training.play import prefix
from inspect_dining.training.play.policy import Policy
from inspect_dining.training.play.prefix import Reader, Recorder
from inspect_dining.training.play.rollouts import Dinner

PROMPTS: list[Ids] = [(7, 8, 9), (7, 8), (40, 41, 42, 43, 44, 45), (99,)]


@pytest.fixture
def policy(seated: Dinner) -> Policy:
    seated.policy.max_tokens = 6
    return seated.policy


def plain_logps(model: PreTrainedModel, prompt: Ids, reply: Ids) -> list[float]:
    """One sequence alone, without padding or cache."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([prompt + reply]), use_cache=False).logits[0]
    every = torch.log_softmax(logits, -1)
    return [every[len(prompt) + i - 1, token].item() for i, token in enumerate(reply)]


def test_sampled_log_probabilities_are_those_of_the_sequence_alone(policy: Policy) -> None:
    """Padding, the cache and its reordering must not show in any probability."""
    rows = [(i % len(PROMPTS), f"k{i}") for i in range(40)]
    for (number, _), reply in zip(rows, policy.sample(PROMPTS, rows), strict=True):
        assert reply.logps == pytest.approx(plain_logps(policy.model, PROMPTS[number], reply.ids), abs=1e-5)


def test_recomputed_log_probabilities_are_those_of_the_sequence_alone(policy: Policy) -> None:
    pairs: list[tuple[Ids, Ids]] = [((7, 8, 9), (3, 4)), ((99,), (5,)), ((40, 41), (6, 7, 8, 9))]
    with torch.no_grad():
        logps, entropy, exists = policy.logps(pairs)
    for row, (prompt, reply) in enumerate(pairs):
        assert logps[row][exists[row]].tolist() == pytest.approx(plain_logps(policy.model, prompt, reply), abs=1e-12)
    assert exists.sum(1).tolist() == [2, 1, 4]
    assert (entropy[exists] > 0).all()


def test_a_row_draws_the_same_alone_and_in_a_crowd(policy: Policy) -> None:
    """A reply that depended on its neighbours in the batch would make runs impossible to repeat."""
    rows = [(i % len(PROMPTS), f"k{i}") for i in range(30)]
    crowd = policy.sample(PROMPTS, rows)
    for (number, key), reply in zip(rows[:8], crowd[:8], strict=True):
        (alone,) = policy.sample([PROMPTS[number]], [(0, key)])
        assert alone.ids == reply.ids
    assert len({reply.ids for reply in crowd}) > 10


def test_chunks_change_nothing(policy: Policy) -> None:
    rows = [(i % len(PROMPTS), f"k{i}") for i in range(20)]
    whole = [reply.ids for reply in policy.sample(PROMPTS, rows)]
    policy.batch_tokens = 4
    assert [reply.ids for reply in policy.sample(PROMPTS, rows)] == whole


def test_the_rows_that_a_prompt_branches_into_count_towards_what_is_computed_at_once(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every row takes its own copy of the cache: a bound on prompts alone lets a first round of many games burst it."""
    policy.batch_tokens = 40
    heights: list[int] = []
    forward = Policy._forward

    def watched(
        self: Policy, ids: Tensor, mask: Tensor, position: Tensor, cache: DynamicCache, reader: Reader | None
    ) -> Tensor:
        heights.append(len(ids))
        return forward(self, ids, mask, position, cache, reader)

    monkeypatch.setattr(Policy, "_forward", watched)
    policy.sample([(7, 8, i) for i in range(12)], [(i % 12, f"k{i}") for i in range(60)])
    assert 5 < max(heights) <= 40 // 3


@pytest.mark.slow
def test_first_tokens_come_as_often_as_the_model_says(policy: Policy) -> None:
    """A cut tail, a temperature or a shifted bin would bias every gradient."""
    policy.max_tokens = 1
    draws = 4000
    drawn = policy.sample([PROMPTS[0]], [(0, f"d{i}") for i in range(draws)])
    with torch.no_grad():
        chances = torch.softmax(policy.model(input_ids=torch.tensor([PROMPTS[0]])).logits[0, -1], -1)
    counts = torch.bincount(torch.tensor([reply.ids[0] for reply in drawn]), minlength=len(chances)).double()
    often = chances * draws >= 5
    observed = [*counts[often].tolist(), counts[~often].sum().item()]
    expected = [*(chances[often] * draws).tolist(), (chances[~often] * draws).sum().item()]
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_greedy_takes_the_likeliest_each_time(policy: Policy) -> None:
    (reply,) = policy.sample([PROMPTS[2]], [(0, None)])
    ids: list[int] = list(PROMPTS[2])
    for token in reply.ids:
        with torch.no_grad():
            assert policy.model(input_ids=torch.tensor([ids])).logits[0, -1].argmax().item() == token
        ids.append(token)


def test_a_reply_ends_at_a_stop_or_at_the_limit_and_says_which(policy: Policy) -> None:
    rows = [(0, f"k{i}") for i in range(300)]
    replies = policy.sample(PROMPTS, rows)
    assert {reply.ended for reply in replies} == {True, False}
    for reply in replies:
        assert reply.ended == (reply.ids[-1] in policy.stops)
        assert reply.ended or len(reply.ids) == policy.max_tokens
        assert not policy.stops & set(reply.ids[:-1])


LONG: list[Ids] = [(*range(50, 62), *rest) for rest in [(7, 8, 9), (7, 8), (40, 41, 42, 43), (99,), (7, 9)]]


def test_a_kept_beginning_shows_in_no_reply_and_in_no_probability(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(i % len(LONG), None if i % 7 == 0 else f"k{i}") for i in range(40)]
    kept = policy.sample(LONG, rows)
    assert policy._kept is not None
    assert policy._kept.ids == LONG[0][:12]
    monkeypatch.setattr(prefix, "SCORES", 300)
    assert [reply.ids for reply in policy.sample(LONG, rows)] == [reply.ids for reply in kept]
    monkeypatch.setattr(module, "SHORTEST", 10**9)
    plain = policy.sample(LONG, rows)
    assert [reply.ids for reply in kept] == [reply.ids for reply in plain]
    for (number, _), one, two in zip(rows, kept, plain, strict=True):
        assert one.logps == pytest.approx(two.logps, abs=1e-6)
        assert one.logps == pytest.approx(plain_logps(policy.model, LONG[number], one.ids), abs=1e-6)


def test_a_beginning_is_computed_once_for_a_set_of_weights(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept beyond a step of Adam it would play with the weights of the step before."""
    recorded: list[int] = []
    begin = Recorder.__init__

    def counted(self: Recorder) -> None:
        recorded.append(1)
        begin(self)

    monkeypatch.setattr(Recorder, "__init__", counted)
    rows: list[tuple[int, str | None]] = [(i % 2, f"k{i}") for i in range(6)]
    policy.sample(LONG[:2], rows)
    before = len(recorded)
    policy.sample(LONG[2:4], rows)
    (alone,) = policy.sample([LONG[4]], [(0, "k")])
    assert alone.logps == pytest.approx(plain_logps(policy.model, LONG[4], alone.ids), abs=1e-6)
    assert len(recorded) == before
    optimizer = torch.optim.Adam(policy.model.parameters(), lr=0.05)
    for parameter in policy.model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    for (number, _), reply in zip(rows, policy.sample(LONG[:2], rows), strict=True):
        assert reply.logps == pytest.approx(plain_logps(policy.model, LONG[number], reply.ids), abs=1e-6)
    assert len(recorded) == before + 1
