"""Exploration that is paid over the six actions: the entropy of what a seat does, not of how it says it.

An entropy bonus over all tokens of a reply also pays for replies that nobody can read. This one pays for

    H = - sum over the six actions of pi(a | view) log pi(a | view)          in nats, at most log 6

where pi is the distribution over the six tools given that one is called (`choices`), so that no probability outside of
them moves. Views weigh as the turns do that met them. It is paid only while their mean H is below `ENOUGH`: credit by
replay is small, and would otherwise be drowned until every action is as likely as any. The coefficient falls to 0
(`schedule.explore`), and what the policy then settles on is left to the reward. Entropy as exploration: Williams and
Peng 1991; Mnih et al. 2016.
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
    """What an update pays for exploration.

    Attributes:
        choices: The six calls.
        coefficient: What a nat is paid.
    """

    choices: Choices
    coefficient: float


def pay(rows: Rows, given: Explore, pairs: Sequence[Pair], device: torch.device | None = None) -> float:
    """Adds the gradient of the bonus to the parameters' `grad`.

    The chances are computed first; the slopes of the entropy by them then weigh the names in a second round of passes.

    Args:
        rows: How replies are scored.
        given: The bonus.
        pairs: The pairs of this update, whose prompts are the views, each with the share of its turns.
        device: Where the model is.

    Returns:
        The mean entropy of this process's turns, in nats; 0 where there are none.
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
    # The slope of H by the unnormalised log-probability of a name is -pi (log pi + H).
    slope = -logps.exp() * (logps + entropy)
    climb(rows, given.choices.pairs(prompts), (given.coefficient * share * slope).flatten())
    return mean
