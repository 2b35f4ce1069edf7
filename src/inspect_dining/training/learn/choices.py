"""The six tools as a distribution: the probability that a model calls each of them, given that it calls one.

A call is written by the model's own chat template. The common beginning of the six calls is the opening. After it, each
name extends as far as needed to distinguish it from the others (one token, or "pick", "_up", "_left"):

    log pi(a) = sum over the ids of a's name of log p(id | prompt, opening, ids before), normalised over the six

Spelling does not matter: spaces, other ways to write a call, and text around it are not part of it.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from inspect_dining.errors import BadInput
from inspect_dining.philosophers.prompts import tool_schemas
from inspect_dining.philosophers.tokens import Ids, Prompts
from inspect_dining.table.moves import Action
from inspect_dining.training.learn.scoring import Rows, score


class Choices:
    """The six calls of a tokenizer.

    Attributes:
        opening: The common beginning of all six.
        names: For each action, its ids after the opening, as far as they distinguish it.
    """

    def __init__(self, prompts: Prompts) -> None:
        """Writes the six calls with a chat template.

        Raises:
            BadInput: The template writes no tool calls.
        """
        calls = prompts.encode([_call(prompts, action) for action in Action])
        shared = next(i for i, ids in enumerate(zip(*calls, strict=False)) if len(set(ids)) > 1)
        self.opening, tails = calls[0][:shared], [call[shared:] for call in calls]
        self.names = tuple(_told_apart(tail, [other for other in tails if other is not tail]) for tail in tails)

    def pairs(self, prompts: Sequence[Ids]) -> list[tuple[Ids, Ids]]:
        """The six names after each prompt and the opening, in the order of `Action`."""
        return [(prompt + self.opening, name) for prompt in prompts for name in self.names]

    def logps(self, rows: Rows, prompts: Sequence[Ids], device: torch.device | None = None) -> Tensor:
        """The log-probability of each action after each prompt, without gradients.

        Args:
            rows: The scorer of replies.
            prompts: The prompts.
            device: The model's device.

        Returns:
            prompts x 6, in float64, normalised over the six.
        """
        return torch.log_softmax(score(rows, self.pairs(prompts), device).view(-1, len(self.names)), -1)


def _call(prompts: Prompts, action: Action) -> str:
    """A call written by the template."""
    user = {"role": "user", "content": "?"}
    called = {"type": "function", "function": {"name": action.value, "arguments": {}}}
    reply = {"role": "assistant", "content": "", "tool_calls": [called]}
    template = prompts.tokenizer.apply_chat_template
    whole = str(template([user, reply], tools=tool_schemas(), tokenize=False))
    before = str(template([user], tools=tool_schemas(), tokenize=False, add_generation_prompt=True))
    text = whole.removeprefix(before).split("</think>")[-1].lstrip("\n")
    if not whole.startswith(before) or action.value not in text:
        raise BadInput(
            "This model's chat template writes no tool calls, so the chances of the six actions cannot be computed; "
            "take credit=group or credit=critic and explore=0, or a template that writes `tool_calls`."
        )
    return text


def _told_apart(tail: Ids, others: Sequence[Ids]) -> Ids:
    """The shortest prefix that no other shares."""
    return next(tail[:i] for i in range(1, len(tail) + 1) if all(other[:i] != tail[:i] for other in others))
