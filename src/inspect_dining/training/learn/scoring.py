"""Scoring replies: the log-probability and entropy of every id of given replies, pass by pass, with gradients.

`PackedRows` packs the pairs as trees (see `tree`). The common beginning of all prompts is computed once, its keys and
values are read by every pass, and their gradient flows back through it after the last pass. `PlainRows` computes every
pair as a separate row. It is for models whose layers do more than attend to what a mask shows, such as sliding windows,
linear attention or recurrence. `choose_rows` decides which one to use.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from inspect_dining.philosophers.tokens import Ids
from inspect_dining.training.learn.tree import TreeRow, batches, pack
from inspect_dining.training.play.policy import Policy
from inspect_dining.training.play.prefix import Reader, Recorder, refusal

ROW = 256
"""Tokens of a packed row after the prefix; longer rows repeat less of their paths but attend to more."""
ASKED = 10
"""A pass predicts at most one id per this many tokens of its capacity, since logits are wide."""
Autocast = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Scored:
    """The results of one pass.

    Attributes:
        index: The number of every id among all ids of all replies, pair by pair.
        logps: Its log-probability.
        entropies: The entropy of the distribution from which it was drawn, in nats.
        tokens: The tokens that the pass computed, padding included.
    """

    index: Tensor
    logps: Tensor
    entropies: Tensor
    tokens: int


class Rows(Protocol):
    """A way to score replies."""

    micro_tokens: int
    """The maximum tokens of a pass, padding included."""

    def passes(self, pairs: Sequence[tuple[Ids, Ids]], entropy: bool = False) -> Iterator[Scored]:
        """Scores the replies of pairs.

        With gradients enabled, run backward through each pass before requesting the next, and consume all of them: the
        gradient of the shared beginning is propagated at the end. If the model is sharded, all processes must make this
        call in the same way; a process with fewer passes than another gets empty ones.

        Args:
            pairs: Prompts and replies.
            entropy: Whether entropies carry gradients too.
        """


class PlainRows:
    """Scores every pair as a separate row."""

    def __init__(self, policy: Policy, micro_tokens: int, autocast: Autocast = nullcontext) -> None:
        """Takes a policy, the maximum tokens of a pass, and the precision of the computation."""
        self.policy, self.micro_tokens, self._autocast = policy, micro_tokens, autocast

    def passes(self, pairs: Sequence[tuple[Ids, Ids]], entropy: bool = False) -> Iterator[Scored]:
        """Scores the replies of pairs; those of similar length together, in an order that depends only on their ids."""
        offsets = [0]
        for _, reply in pairs:
            offsets.append(offsets[-1] + len(reply))
        order = sorted(range(len(pairs)), key=lambda i: (len(pairs[i][0]) + len(pairs[i][1]), pairs[i]))
        batches: list[list[int]] = []
        for number in order:
            length = len(pairs[number][0]) + len(pairs[number][1])
            if batches and (len(batches[-1]) + 1) * length <= self.micro_tokens:
                batches[-1].append(number)
            else:
                batches.append([number])
        if self.policy.shards is not None:
            batches += [[]] * (self.policy.shards.agree(len(batches)) - len(batches))
        for batch in batches:
            some = [pairs[number] for number in batch] or [((self.policy.pad,), (self.policy.pad,))]
            with self._autocast():
                logps, entropies, exists = self.policy.logps(some, entropy)
            exists = exists if batch else torch.zeros_like(exists)
            index = [offsets[number] + i for number in batch for i in range(len(pairs[number][1]))]
            longest = max(len(prompt) + len(reply) for prompt, reply in some)
            yield Scored(
                torch.tensor(index, dtype=torch.long, device=logps.device),
                logps[exists],
                entropies[exists],
                longest * len(some),
            )


class PackedRows:
    """Scores pairs packed as trees."""

    def __init__(self, policy: Policy, micro_tokens: int, autocast: Autocast = nullcontext) -> None:
        """Takes a policy whose model supports packing, the maximum tokens of a pass, and the precision."""
        self.policy, self.micro_tokens, self._autocast = policy, micro_tokens, autocast

    def passes(self, pairs: Sequence[tuple[Ids, Ids]], entropy: bool = False) -> Iterator[Scored]:
        """Scores the replies of pairs."""
        tree, shards = pack(pairs, min(ROW, self.micro_tokens)), self.policy.shards
        made = batches(tree.rows, self.micro_tokens, max(1, self.micro_tokens // ASKED))
        start, reader, output = len(tree.prefix), None, None
        if start or shards is not None:
            recorder = Recorder()
            ids = torch.tensor([tree.prefix or (self.policy.pad,)], device=self._device)
            output = self._forward(input_ids=ids, logits_to_keep=1, dining_prefix=recorder)
            reader = Reader(recorder) if start else None
        if shards is not None:
            made += [[TreeRow([self.policy.pad], [start], [1])]] * (shards.agree(len(made)) - len(made))
        for number, batch in enumerate(made):
            scored = self._pass(batch, start, reader, entropy)
            tokens = scored.tokens + (start if number == 0 else 0)
            yield Scored(scored.index, scored.logps, scored.entropies, tokens)
        if not torch.is_grad_enabled():
            return
        if shards is not None and output is not None:
            (reader or Reader(Recorder())).backward(output)
        elif reader is not None:
            reader.backward()

    @property
    def _device(self) -> torch.device:
        return next(self.policy.model.parameters()).device

    def _forward(self, **inputs: object) -> Tensor:
        with self._autocast():
            logits: Tensor = self.policy.model(use_cache=False, **inputs).logits
        return logits

    def _pass(self, batch: Sequence[TreeRow], start: int, reader: Reader | None, entropy: bool) -> Scored:
        """Computes rows; nodes that predict come last in each, so logits are computed only for the end of the rows."""
        width = max(len(row.ids) for row in batch)
        ids, positions, firsts, ends, asked = [], [], [], [], []
        keep = max(1, *(len({node for node, _, _ in row.asked}) for row in batch))
        for number, row in enumerate(batch):
            predicting = dict.fromkeys(node for node, _, _ in row.asked)
            order = [node for node in range(len(row.ids)) if node not in predicting] + list(predicting)
            pad = width - len(order)
            ids.append([self.policy.pad] * pad + [row.ids[node] for node in order])
            positions.append([start] * pad + [row.depths[node] for node in order])
            # Padding attends to itself, so that its softmax is defined.
            firsts.append([*range(-pad, 0), *order])
            ends.append([*range(1 - pad, 1), *(row.ends[node] for node in order)])
            place = {node: i for i, node in enumerate(order, pad - width + keep)}
            asked += [(number, place[node], token, index) for node, token, index in row.asked]
        first, end = torch.tensor(firsts, device=self._device), torch.tensor(ends, device=self._device)
        above = (first[:, None, :] <= first[:, :, None]) & (first[:, :, None] < end[:, None, :])
        mask = torch.cat([above.new_ones(len(batch), width, start), above], 2)[:, None]
        logits = self._forward(
            input_ids=torch.tensor(ids, device=self._device),
            attention_mask=mask,
            position_ids=torch.tensor(positions, device=self._device),
            logits_to_keep=keep,
            **({} if reader is None else {"dining_prefix": reader}),
        )
        everything = torch.log_softmax(logits if logits.dtype == torch.float64 else logits.float(), -1)
        row_of, node_of, token_of, index = torch.tensor(asked, dtype=torch.long, device=self._device).view(-1, 4).T
        with torch.set_grad_enabled(entropy and torch.is_grad_enabled()):
            spread = -(everything.exp() * everything).sum(-1)
        return Scored(index, everything[row_of, node_of, token_of], spread[row_of, node_of], width * len(batch))


def score(rows: Rows, pairs: Sequence[tuple[Ids, Ids]], device: torch.device | None = None) -> Tensor:
    """The log-probability of each whole reply, in float64 and without gradients."""
    logps = torch.zeros(len(pairs), dtype=torch.float64, device=device)
    owners = _owners(pairs, device)
    with torch.no_grad():
        for part in rows.passes(pairs):
            logps.index_add_(0, owners[part.index], part.logps.double())
    return logps


def climb(rows: Rows, pairs: Sequence[tuple[Ids, Ids]], weights: Tensor) -> None:
    """Adds to the parameters' `grad` the gradient of minus the weighted sum of the replies' log-probabilities.

    Args:
        rows: The scorer of replies.
        pairs: Prompts and replies.
        weights: The weight of each reply.
    """
    owners = _owners(pairs, weights.device)
    for part in rows.passes(pairs):
        weighed = -(weights[owners[part.index]].to(part.logps) * part.logps).sum()
        weighed.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped


def _owners(pairs: Sequence[tuple[Ids, Ids]], device: torch.device | None) -> Tensor:
    """The index of the pair to which each id of all replies belongs."""
    owned = [number for number, (_, reply) in enumerate(pairs) for _ in reply]
    return torch.tensor(owned, dtype=torch.long, device=device)


def choose_rows(policy: Policy, micro_tokens: int, autocast: Autocast = nullcontext) -> tuple[Rows, str | None]:
    """Chooses the scorer of a policy's replies: packed if the model allows it.

    Returns:
        The scorer and, for plain rows, a sentence that says why.
    """
    why = refusal(policy.model)
    if not why:
        return PackedRows(policy, micro_tokens, autocast), None
    return PlainRows(policy, micro_tokens, autocast), (
        f"Pairs are trained as plain rows, not packed as trees: {why}; a step computes several times the tokens."
    )
