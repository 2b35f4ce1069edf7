"""Updates: torch, peft and accelerate turn weighted pairs into steps of Adam.

Every process computes the gradient of its own share of the games; the shares are summed over processes, so that any
number of them does the same arithmetic as one. Micro-batches are cut by their number of tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types

from inspect_dining.errors import BadInput
from inspect_dining.training.learn.diversity import Apart, pull
from inspect_dining.training.learn.objective import Pair
from inspect_dining.training.play.policy import Policy, parameters


@dataclass(frozen=True, slots=True)
class Update:
    """What one update came to.

    Attributes:
        pairs: Pairs trained in this process.
        gradient: Norm of the gradient before clipping.
        entropy: Mean entropy of a reply in nats, weighed as the turns are.
        off: Mean absolute difference of log-probabilities between learner and sampler, a token.
        information: Nats that a seat's number tells about its first move; None where no bonus is on it.
    """

    pairs: int
    gradient: float
    entropy: float
    off: float
    information: float | None = None


class Updater:
    """Takes steps of Adam on a policy.

    Attributes:
        policy: The policy.
        optimizer: Adam without weight decay.
    """

    def __init__(
        self,
        policy: Policy,
        accelerator: Accelerator,
        *,
        cap: float = 2.0,
        clip: float = 1.0,
        betas: tuple[float, float] = (0.9, 0.99),
        micro_tokens: int = 65536,
    ) -> None:
        """Takes a policy on its device.

        Args:
            policy: The policy.
            accelerator: Says which processes there are, and the precision.
            cap: Where importance weights are truncated.
            clip: The largest norm of a gradient.
            betas: Adam's.
            micro_tokens: The most tokens, padding included, in one backward pass.
        """
        self.policy = policy
        self.accelerator = accelerator
        self.cap = cap
        self.clip = clip
        self.micro_tokens = micro_tokens
        self.trained = parameters(policy.model)
        self.optimizer = torch.optim.Adam(self.trained, lr=0.0, betas=betas)

    def gradient(self, given: Sequence[Pair], entropy: float = 0.0, apart: Apart | None = None) -> Update:
        """Leaves in the parameters' `grad` the gradient of the loss, summed over processes.

        Args:
            given: This process's pairs.
            entropy: The entropy coefficient: positive rewards entropy, negative punishes it.
            apart: The bonus on seats that act apart.
        """
        self.policy.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        spread = off = tokens = shares = 0.0
        for batch in self._micro_batches(given):
            with self.accelerator.autocast():
                logps, entropies, exists = self.policy.logps([(p.prompt, p.reply) for p in batch], entropy != 0.0)
            width = logps.shape[1]
            sampled = _like(logps, [[0.0] * (width - len(p.logps)) + list(p.logps) for p in batch])
            weight = _like(logps, [p.weight for p in batch])
            share = _like(logps, [p.share for p in batch])
            ratio = (logps.detach() - sampled).exp().clamp(max=self.cap)
            loss = -(weight[:, None] * ratio * logps * exists).sum()
            each = (entropies * exists).sum(1)
            if entropy:
                loss = loss - entropy * (share * each).sum()
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
            with torch.no_grad():
                spread += float((share * each).sum())
                shares += float(share.sum())
                off += float(((logps - sampled).abs() * exists).sum())
                tokens += float(exists.sum())
        information = pull(self.policy, apart, self.micro_tokens) if apart else None
        self._sum_over_processes()
        norm = float(torch.nn.utils.clip_grad_norm_(self.trained, float("inf")))
        return Update(
            len(given), norm, spread / shares if shares else 0.0, off / tokens if tokens else 0.0, information
        )

    def update(self, given: Sequence[Pair], rate: float, entropy: float = 0.0, apart: Apart | None = None) -> Update:
        """Takes one step of Adam; a gradient that is not finite stops the run before it touches a weight."""
        made = self.gradient(given, entropy, apart)
        if not torch.isfinite(torch.tensor(made.gradient)):
            raise BadInput("The gradient is not finite, so no step was taken; lower the rate, or train in float32.")
        torch.nn.utils.clip_grad_norm_(self.trained, self.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.policy.model.train(False)
        return made

    def _micro_batches(self, given: Sequence[Pair]) -> list[list[Pair]]:
        """Pairs of like length together, in an order that only their ids decide."""
        order = sorted(given, key=lambda p: (len(p.prompt) + len(p.reply), p.prompt, p.reply))
        batches: list[list[Pair]] = []
        for pair in order:
            length = len(pair.prompt) + len(pair.reply)
            if batches and (len(batches[-1]) + 1) * length <= self.micro_tokens:
                batches[-1].append(pair)
            else:
                batches.append([pair])
        return batches

    def _sum_over_processes(self) -> None:
        for parameter in self.trained:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        if self.accelerator.num_processes > 1:
            flat = torch.cat([p.grad.flatten() for p in self.trained if p.grad is not None])
            summed = self.accelerator.reduce(flat, reduction="sum")
            start = 0
            for parameter in self.trained:
                parameter.grad = summed[start : start + parameter.numel()].view_as(parameter)
                start += parameter.numel()


def _like(other: torch.Tensor, numbers: Sequence[float] | Sequence[Sequence[float]]) -> torch.Tensor:
    return torch.tensor(numbers, dtype=other.dtype, device=other.device)
