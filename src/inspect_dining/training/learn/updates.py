"""Updates: torch, peft and accelerate turn weighted pairs into Adam steps.

Every process computes the gradient of its own share of the games; the shares are summed over processes, so that any
number of them does the same arithmetic as one. `scoring` computes the log-probabilities of replies, pass by pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types

from inspect_dining.errors import BadInput
from inspect_dining.training.learn.diversity import Apart, pull
from inspect_dining.training.learn.exploration import Explore, pay
from inspect_dining.training.learn.objective import Pair
from inspect_dining.training.learn.scoring import choose_rows
from inspect_dining.training.play.policy import Policy, parameters
from inspect_dining.training.play.steady import prepare_gradients


@dataclass(frozen=True, slots=True)
class Update:
    """The results of one update.

    Attributes:
        pairs: Pairs trained in this process.
        tokens: Tokens computed for them in this process, padding included, without the bonus.
        gradient: Norm of the gradient before clipping.
        entropy: Mean entropy of a reply in nats, weighted by turns.
        off: Mean absolute difference of log-probabilities between learner and sampler, per token.
        information: Nats of information that a seat's number gives about its first move; None without that bonus.
        choice: Mean entropy of the six actions in nats, weighted by turns; None without that bonus.
    """

    pairs: int
    tokens: int
    gradient: float
    entropy: float
    off: float
    information: float | None = None
    choice: float | None = None


class Updater:
    """Takes Adam steps on a policy.

    Attributes:
        policy: The policy.
        optimizer: Adam without weight decay.
        rows: The scorer of replies.
        plain: Why replies are scored as plain rows, in a sentence; None if they are packed.
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
            accelerator: Gives the processes and the precision.
            cap: The cap on importance weights.
            clip: The largest norm of a gradient.
            betas: Adam's.
            micro_tokens: The maximum tokens, padding included, in one backward pass; a single row may be longer.
        """
        self.policy = policy
        self.accelerator = accelerator
        self.cap = cap
        self.clip = clip
        self.rows, self.plain = choose_rows(policy, micro_tokens, accelerator.autocast)
        self.trained = parameters(policy.model)
        self.optimizer = torch.optim.Adam(self.trained, lr=0.0, betas=betas)

    def gradient(
        self,
        given: Sequence[Pair],
        entropy: float = 0.0,
        apart: Apart | None = None,
        explore: Explore | None = None,
    ) -> Update:
        """Stores the gradient of the loss, summed over processes, in the parameters' `grad`.

        Args:
            given: This process's pairs.
            entropy: The entropy coefficient: positive rewards entropy, negative punishes it.
            apart: The bonus on seats that act apart.
            explore: The bonus on the entropy of the six actions.
        """
        prepare_gradients(self.policy.model)
        self.optimizer.zero_grad(set_to_none=True)
        spread = off = 0.0
        computed = 0
        lengths = [len(pair.reply) for pair in given]
        sampled, weights, shares = (
            torch.tensor(numbers, dtype=torch.float64, device=self.accelerator.device)
            for numbers in (
                [logp for pair in given for logp in pair.logps],
                [pair.weight for pair, length in zip(given, lengths, strict=True) for _ in range(length)],
                [pair.share for pair, length in zip(given, lengths, strict=True) for _ in range(length)],
            )
        )
        for part in self.rows.passes([(pair.prompt, pair.reply) for pair in given], entropy != 0.0):
            drawn, weight, share = (numbers[part.index].to(part.logps) for numbers in (sampled, weights, shares))
            ratio = (part.logps.detach() - drawn).exp().clamp(max=self.cap)
            loss = -(weight * ratio * part.logps).sum()
            if entropy:
                loss = loss - entropy * (share * part.entropies).sum()
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
            computed += part.tokens
            with torch.no_grad():
                spread += float((share * part.entropies).sum())
                off += float((part.logps - drawn).abs().sum())
        sharded = self.policy.shards is not None
        information = pull(self.rows, apart, self.accelerator.device, always=sharded) if apart else None
        choice = pay(self.rows, explore, given, self.accelerator.device) if explore else None
        self._sum_over_processes()
        norm = float(torch.nn.utils.clip_grad_norm_(self.trained, float("inf")))
        turns, ids = sum(pair.share for pair in given), sum(lengths)
        return Update(
            len(given),
            computed,
            norm,
            spread / turns if turns else 0.0,
            off / ids if ids else 0.0,
            information,
            choice,
        )

    def update(
        self,
        given: Sequence[Pair],
        rate: float,
        entropy: float = 0.0,
        apart: Apart | None = None,
        explore: Explore | None = None,
    ) -> Update:
        """Takes one Adam step; a gradient that is not finite stops the run before any weight changes."""
        made = self.gradient(given, entropy, apart, explore)
        if not torch.isfinite(torch.tensor(made.gradient)):
            raise BadInput("The gradient is not finite, so no step was taken; lower the rate, or train in float32.")
        torch.nn.utils.clip_grad_norm_(self.trained, self.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.policy.model.train(False)
        return made

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
