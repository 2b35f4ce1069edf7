"""A bonus on exploration over the six actions: the entropy of the action, not of its wording.

An entropy bonus over all tokens of a reply also rewards unreadable replies. This one rewards

    H = - sum over the six actions of pi(a | view) log pi(a | view)          in nats, at most log 6

where pi is the distribution over the six tools given that one is called (`choices`), so probabilities outside them do
not change. Views are weighted by the turns in which they occurred. The bonus is paid only while their mean H is below
`ENOUGH`, since credit by replay is small and would otherwise be drowned out until all actions are equally likely. The
coefficient falls to 0 (`schedule.explore`), and the reward decides the final policy. Entropy as exploration: Williams
and Peng 1991; Mnih et al. 2016.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from inspect_dining.philosophers.tokens import Ids
from inspect_dining.training.learn.choices import Choices
from inspect_dining.training.learn.objective import Pair
from inspect_dining.training.learn.scoring import Rows, climb

ENOUGH = 0.8
"""Nats of mean entropy at which the bonus ends; log 6 is 1.79."""


@dataclass(frozen=True, slots=True)
class Explore:
    """The exploration bonus of an update.

    Attributes:
        choices: The six calls.
        coefficient: The bonus per nat.
    """

    choices: Choices
    coefficient: float


def pay(rows: Rows, given: Explore, pairs: Sequence[Pair], device: torch.device | None = None) -> float:
    """Adds the gradient of the bonus to the parameters' `grad`.

    The probabilities are computed first; the entropy's derivatives then weigh the names in a second round of passes.

    Args:
        rows: The scorer of replies.
        given: The bonus.
        pairs: The pairs of this update, whose prompts are the views, each with the share of its turns.
        device: The model's device.

    Returns:
        The mean entropy of this process's turns, in nats; 0 if there are none.
    """
    shares: dict[Ids, float] = {}
    for pair in pairs:
        shares[pair.prompt] = shares.get(pair.prompt, 0.0) + pair.share
    if not shares:
        return 0.0
    prompts = list(shares)
    logps = given.choices.logps(rows, prompts, device)
    entropy = -(logps.exp() * logps).sum(1, keepdim=True)
    share = torch.tensor([shares[prompt] for prompt in prompts], dtype=torch.float64, device=device)[:, None]
    mean = float((share * entropy).sum() / share.sum())
    if mean >= ENOUGH:
        return mean
    # The derivative of H with respect to the unnormalised log-probability of a name is -pi (log pi + H).
    slope = -logps.exp() * (logps + entropy)
    climb(rows, given.choices.pairs(prompts), (given.coefficient * share * slope).flatten())
    return mean
