"""The chances of the six actions, against whole calls scored one by one."""

import pytest
import torch
from transformers import PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.tokens import Prompts
from inspect_dining.table import Action
from inspect_dining.training.learn.choices import Choices
from inspect_dining.training.learn.scoring import PackedRows, PlainRows, choose_rows
from inspect_dining.training.play.rollouts import Dinner
from inspect_dining.training.tiny.model import END, call_text

Ways = PlainRows | PackedRows


def some_prompts(dinner: Dinner) -> list[tuple[int, ...]]:
    """Prompts of unlike length."""
    return dinner.policy.prompts.encode([f"Round {'1' * i} of 30." for i in (1, 3, 2)])


def slowly(dinner: Dinner, calls: list[tuple[int, ...]]) -> torch.Tensor:
    """Log-probabilities of the calls' names, each scored in a row of its own, normalised over the six."""
    rows = [(prompt, call) for prompt in some_prompts(dinner) for call in calls]
    logps, _, exists = dinner.policy.logps(rows)
    return torch.log_softmax((logps * exists).sum(1).view(-1, 6), -1)


@pytest.mark.parametrize("rows", [PlainRows, PackedRows])
def test_the_chances_are_those_of_the_names_where_each_is_one_token(seated: Dinner, rows: type[Ways]) -> None:
    choices = Choices(seated.policy.prompts)
    assert [len(name) for name in choices.names] == [1] * 6
    cut = [choices.opening + name for name in choices.names]
    whole = seated.policy.prompts.encode([call_text(action) + END for action in Action])
    assert [ids[: len(beginning)] for ids, beginning in zip(whole, cut, strict=True)] == cut
    choose_rows(seated.policy, 65536)
    made = choices.logps(rows(seated.policy, 65536), some_prompts(seated))
    assert torch.allclose(made, slowly(seated, cut), atol=1e-12)
    assert torch.allclose(made.exp().sum(1), torch.ones(3, dtype=torch.float64))


class Spelled(Prompts):
    """A tokenizer that has no phrase for a tool's name and spells it byte by byte."""

    def encode(self, texts: list[str]) -> list[tuple[int, ...]]:  # type: ignore[override]  # lists do here
        whole = super().encode(texts)
        names = {super(Spelled, self).encode([action.value])[0][0]: action.value for action in Action}
        letters = {i: tuple(super(Spelled, self).encode([c])[0][0] for c in name) for i, name in names.items()}
        return [tuple(j for i in ids for j in letters.get(i, (i,))) for ids in whole]


def test_names_of_many_tokens_go_as_far_as_it_takes_to_tell_them_apart(seated: Dinner) -> None:
    choices = Choices(Spelled(seated.policy.prompts.tokenizer))
    # pick_up_l, pick_up_r, put_down_l, put_down_r; e and t are told apart at once.
    assert [len(name) for name in choices.names] == [9, 9, 10, 10, 1, 1]
    made = choices.logps(PlainRows(seated.policy, 65536), some_prompts(seated))
    assert torch.allclose(made, slowly(seated, [choices.opening + name for name in choices.names]), atol=1e-12)


def test_a_template_that_writes_no_calls_is_refused(tokenizer: PreTrainedTokenizerBase) -> None:
    prompts = Prompts(tokenizer)
    written = tokenizer.chat_template
    try:
        tokenizer.chat_template = "{% for message in messages %}{{ message.content }}{% endfor %}"
        with pytest.raises(BadInput, match="chat template writes no tool calls"):
            Choices(prompts)
    finally:
        tokenizer.chat_template = written
