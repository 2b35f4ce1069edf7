"""Gradients, against a slow reference that takes one turn at a time, alone, without padding."""

import random

import pytest
import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.table import Rules
from inspect_dining.training.learn.objective import Group, Pair, pairs, sampled
from inspect_dining.training.learn.updates import Updater
from inspect_dining.training.play.rollouts import Dinner, Play

ENTROPY = -0.03


@pytest.fixture
def learner(seated: Dinner) -> Updater:
    return Updater(seated.policy, Accelerator(cpu=True), cap=1.5)


def played(seated: Dinner, longest: int = 5) -> list[Group]:
    """Random games with made-up rewards; the raw model's replies are wild, long and short."""
    seated.policy.max_tokens = longest
    rng = random.Random(2)
    groups = []
    for g, rules in enumerate((Rules(n=3, rounds=4), Rules(n=2, rounds=3))):
        episodes = tuple(seated.play([Play(rules, g, f"{g}/{member}") for member in range(3)]))
        groups.append(Group(str(g), episodes, tuple(rng.random() for _ in episodes)))
    return groups


def gradients(model: PreTrainedModel) -> list[torch.Tensor]:
    return [p.grad.clone() for p in model.parameters() if p.grad is not None]


def close(one: list[torch.Tensor], two: list[torch.Tensor], relative: float = 1e-9) -> None:
    scale = max(float(g.abs().max()) for g in two)
    assert scale > 0
    for a, b in zip(one, two, strict=True):
        assert float((a - b).abs().max()) <= relative * scale


def slow_gradient(model: PreTrainedModel, groups: list[Group], cap: float, entropy: float) -> list[torch.Tensor]:
    """The loss of the objective's docstring, turn by turn and token by token."""
    model.zero_grad()
    for group in groups:
        size = len(group.rewards)
        for i, episode in enumerate(group.episodes):
            advantage = group.rewards[i] - sum(r for j, r in enumerate(group.rewards) if j != i) / (size - 1)
            rules = episode.record.rules
            c = 1 / (len(groups) * size * rules.n * rules.rounds)
            for turn in episode.turns:
                ids = turn.prompt + turn.reply.ids
                logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
                loss = torch.zeros((), dtype=torch.float64)
                for place, (token, sampled_logp) in enumerate(zip(turn.reply.ids, turn.reply.logps, strict=True)):
                    every = torch.log_softmax(logits[len(turn.prompt) + place - 1], -1)
                    ratio = min(float(torch.exp(every[token].detach() - sampled_logp)), cap)
                    loss = loss - c * advantage * ratio * every[token]
                    loss = loss - entropy * c * -(every.exp() * every).sum()
                loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return gradients(model)


def test_gradients_agree_with_the_slow_reference(learner: Updater, seated: Dinner) -> None:
    groups = played(seated)
    expected = slow_gradient(learner.policy.model, groups, learner.cap, ENTROPY)
    learner.gradient(pairs(groups), ENTROPY)
    close(gradients(learner.policy.model), expected)


def test_importance_weights_are_truncated_at_the_cap(learner: Updater, seated: Dinner) -> None:
    """Replies that have become far likelier than when they were sampled must not take over the update."""
    groups = played(seated)
    with torch.no_grad():
        for parameter in learner.policy.model.parameters():
            parameter.mul_(1.2)
    expected = slow_gradient(learner.policy.model, groups, learner.cap, 0.0)
    unlimited = slow_gradient(learner.policy.model, groups, 1e9, 0.0)
    learner.gradient(pairs(groups))
    close(gradients(learner.policy.model), expected)
    with pytest.raises(AssertionError):
        close(gradients(learner.policy.model), unlimited)


def test_micro_batches_and_the_order_of_pairs_change_nothing(learner: Updater, seated: Dinner) -> None:
    made = pairs(played(seated))
    learner.gradient(made, ENTROPY)
    whole = gradients(learner.policy.model)
    learner.rows.micro_tokens = 60
    learner.gradient(made[::-1], ENTROPY)
    close(gradients(learner.policy.model), whole)


def test_summing_equal_pairs_changes_nothing(learner: Updater, seated: Dinner) -> None:
    """Replies of one token recur, so that here the slow reference counts turns that are one pair."""
    groups = played(seated, longest=1)
    made = pairs(groups)
    assert len(made) < sum(len(episode.turns) for group in groups for episode in group.episodes)
    expected = slow_gradient(learner.policy.model, groups, learner.cap, ENTROPY)
    learner.gradient(made, ENTROPY)
    close(gradients(learner.policy.model), expected)


@pytest.mark.slow
def test_sampled_updates_have_the_gradient_of_all_pairs_on_average(learner: Updater, seated: Dinner) -> None:
    made = pairs(played(seated))
    learner.gradient(made)
    whole = torch.cat([g.flatten() for g in gradients(learner.policy.model)])
    draws = []
    for draw in range(60):
        learner.gradient(sampled(made, len(made) // 3, f"k{draw}"))
        draws.append(torch.cat([g.flatten() for g in gradients(learner.policy.model)]))
    along = torch.stack(draws) @ whole / (whole @ whole)
    assert abs(float(along.mean()) - 1) <= 4 * float(along.std()) / len(draws) ** 0.5
    assert float(along.std()) > 0.01


def test_the_ids_trained_are_the_ids_sampled_also_where_text_would_be_encoded_otherwise(
    seated: Dinner, tokenizer: PreTrainedTokenizerBase
) -> None:
    """Decoding and encoding again trains on tokens that nobody drew."""
    groups = played(seated)
    drawn = {(turn.prompt, turn.reply.ids) for g in groups for episode in g.episodes for turn in episode.turns}
    trained = {(pair.prompt, pair.reply) for pair in pairs(groups)}
    assert trained == drawn

    def again(ids: Ids) -> Ids:
        text = str(tokenizer.decode(list(ids), skip_special_tokens=False))
        return tuple(tokenizer([text], add_special_tokens=False)["input_ids"][0])

    assert any(again(reply) != reply for _, reply in trained)


def test_a_gradient_that_is_not_finite_stops_before_it_touches_a_weight(learner: Updater) -> None:
    before = [p.detach().clone() for p in learner.policy.model.parameters()]
    with pytest.raises(BadInput, match="gradient is not finite, so no step was taken"):
        learner.update([Pair((1, 2), (3,), (-1.0,), float("nan"), 1.0)], rate=0.1)
    for old, new in zip(before, learner.policy.model.parameters(), strict=True):
        assert (old == new).all()


def test_an_update_makes_good_replies_likelier_and_bad_ones_less(learner: Updater) -> None:
    good, bad = ((1, 2), (3, 4)), ((1, 2), (5, 4))
    with torch.no_grad():
        before = learner.policy.logps([good, bad])[0].sum(1)
    learner.update(
        [Pair(*good, (-5.0, -5.0), 0.5, 1.0), Pair(*bad, (-5.0, -5.0), -0.5, 1.0)],
        rate=1e-3,
    )
    with torch.no_grad():
        after = learner.policy.logps([good, bad])[0].sum(1)
    assert after[0] > before[0]
    assert after[1] < before[1]
