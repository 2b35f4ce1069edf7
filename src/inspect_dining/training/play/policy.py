"""The model as a player: samples replies to prompts, and recomputes the log-probabilities of given replies.

Both work for any causal language model of transformers. Equal prompts are computed once, and so are equal beginnings of
their replies: rows that have sampled the same tokens share one place in the batch until they diverge. The common
beginning of all prompts is computed once per set of weights, if the model allows it (see `prefix`). Every row draws
from uniform numbers keyed by its own seed, so its samples do not depend on the rest of the batch (apart from rounding).
Sampling is at temperature 1 from the whole distribution, whatever the model's own defaults are.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from hashlib import blake2b
from inspect import signature

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor
from transformers import DynamicCache, PreTrainedModel

from inspect_dining.philosophers.tokens import Ids, Prompts
from inspect_dining.training.play.prefix import Reader, Recorder, refusal
from inspect_dining.training.play.sharding import Shards

_DRAWS = 8
SHORTEST = 8
"""The minimum length of a common beginning of prompts that is cached."""
SLACK = 32
"""The ids by which a cached beginning may be shorter than the prompts' common beginning before it is recomputed."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A sampled reply.

    Attributes:
        ids: The ids sampled, with the one that ended it.
        logps: For each id, the log-probability with which it was sampled (that of the choice, if greedy).
        ended: Whether a stop token ended it; otherwise the token limit cut it.
    """

    ids: Ids
    logps: tuple[float, ...]
    ended: bool


@dataclass(slots=True)
class _Row:
    """A reply being sampled."""

    key: str | None
    ids: list[int]
    logps: list[float]
    ended: bool = False
    draws: bytes = b""

    def draw(self) -> float:
        """The next uniform number of this row."""
        place = len(self.ids) % _DRAWS
        if place == 0:
            self.draws = blake2b(f"{self.key}/{len(self.ids)}".encode(), digest_size=6 * _DRAWS).digest()
        return int.from_bytes(self.draws[6 * place : 6 * place + 6], "big") / 2**48


@dataclass(frozen=True, slots=True)
class _Kept:
    """A cached beginning of prompts, computed with one set of weights."""

    ids: Ids
    weights: int
    recorder: Recorder


class Policy:
    """A model with its prompts.

    Attributes:
        model: The model, possibly with adapters.
        prompts: Renders its prompt ids.
        stops: The ids that end a reply.
        max_tokens: The token limit of a reply.
        batch_tokens: The maximum prompt tokens computed at once, with a prompt counted once per reply: rows
            that diverge get their own copies of its cache.
        shards: The shards of the model, if it is sharded across processes.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        prompts: Prompts,
        *,
        stops: Sequence[int],
        max_tokens: int = 16,
        batch_tokens: int = 32768,
    ) -> None:
        """Takes a model that is ready on its device."""
        self.model = model
        self.prompts = prompts
        self.stops = frozenset(stops)
        self.max_tokens = max_tokens
        self.batch_tokens = batch_tokens
        self.pad = min(self.stops)
        # A PEFT model hides its base's signature.
        bare: PreTrainedModel = getattr(model, "get_base_model", lambda: model)()
        self._cache_word = "cache" if "cache" in signature(bare.forward).parameters else "past_key_values"
        self._kept: _Kept | None = None
        self.shards: Shards | None = None

    def sample(self, prompts: Sequence[Ids], rows: Sequence[tuple[int, str | None]]) -> list[Reply]:
        """Samples a reply for every row.

        Args:
            prompts: Distinct prompts.
            rows: For each requested reply, the index of its prompt and the key of its random draws; None takes the
                likeliest token each time (greedy).

        Returns:
            A reply for each row.
        """
        of_prompt: list[list[_Row]] = [[] for _ in prompts]
        made = []
        for number, key in rows:
            row = _Row(key, [], [])
            made.append(row)
            of_prompt[number].append(row)
        wanted = [number for number, some in enumerate(of_prompt) if some]
        self.model.train(False)
        # Weights gathered in inference mode cannot be gathered for a gradient later.
        with torch.inference_mode() if self.shards is None else torch.no_grad():
            start, reader = self._beginning([prompts[i] for i in wanted])
            for chunk in _chunks([(len(prompts[i]) - start, len(of_prompt[i]), i) for i in wanted], self.batch_tokens):
                self._decode([prompts[i][start:] for i in chunk], [of_prompt[i] for i in chunk], start, reader)
        return [Reply(tuple(row.ids), tuple(row.logps), row.ended) for row in made]

    def together(self) -> AbstractContextManager[None]:
        """If processes share a sharded model, all enter this context to sample, each as often as it likes."""
        return nullcontext() if self.shards is None else self.shards.together()

    def _beginning(self, prompts: list[Ids]) -> tuple[int, Reader | None]:
        """The common beginning of prompts, computed once per set of weights: its length, and its keys and values."""
        if not prompts or (len(prompts) < 2 and self._kept is None):
            return 0, None
        low, high = min(prompts), max(prompts)
        shared = min(common(low, high), min(map(len, prompts)) - 1)
        if shared < SHORTEST or refusal(self.model):
            return 0, None
        weights = fingerprint(self.model)
        kept = self._kept
        if kept is None or kept.weights != weights or common(kept.ids, low[:shared]) < shared - SLACK:
            recorder = Recorder()
            ids = torch.tensor([low[:shared]], device=next(self.model.parameters()).device)
            self.model(input_ids=ids, use_cache=False, logits_to_keep=1, dining_prefix=recorder)
            kept = self._kept = _Kept(low[:shared], weights, recorder)
        length = common(kept.ids, low[:shared])
        return length, Reader(kept.recorder, length)

    def _decode(self, prompts: list[Ids], nodes: list[list[_Row]], start: int, reader: Reader | None) -> None:
        """Decodes rows in lock-step; `nodes` groups those whose prompt and tokens so far are equal.

        Args:
            prompts: The prompts after the cached beginning.
            nodes: The rows.
            start: The length of the cached beginning.
            reader: The cached beginning.
        """
        ids, mask = self._padded(prompts)
        position = torch.arange(ids.shape[1], device=ids.device)[None] if mask is None else mask.cumsum(1) - 1
        cache = DynamicCache(config=self.model.config)
        logits = self._forward(ids, mask, position.clamp(min=0) + start, cache, reader)
        position = position[:, -1:].expand(len(ids), 1) + start + 1
        for step in range(self.max_tokens):
            parents, tokens, children = self._choose(logits, nodes)
            if not children or step + 1 == self.max_tokens:
                return
            index = torch.tensor(parents, device=ids.device)
            if parents != list(range(len(nodes))):
                cache.reorder_cache(index)  # type: ignore[arg-type]  # any tensor of whole numbers does
                position = position[index]
                mask = None if mask is None else mask[index]
            if mask is not None:
                mask = torch.cat([mask, mask.new_ones(len(parents), 1)], 1)
            nodes = children
            logits = self._forward(torch.tensor(tokens, device=ids.device)[:, None], mask, position, cache, reader)
            position = position + 1

    def _forward(
        self, ids: Tensor, mask: Tensor | None, position: Tensor, cache: DynamicCache, reader: Reader | None
    ) -> Tensor:
        out = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=position,
            use_cache=True,
            logits_to_keep=1,
            **{self._cache_word: cache},
            **({} if reader is None else {"dining_prefix": reader}),
        )
        logits: Tensor = out.logits[:, -1].float()
        return logits

    def _choose(self, logits: Tensor, nodes: list[list[_Row]]) -> tuple[list[int], list[int], list[list[_Row]]]:
        """Draws the next token of every row; returns the parents, tokens and rows of the nodes that continue."""
        logps = torch.log_softmax(logits, -1)
        rows = [(number, row) for number, node in enumerate(nodes) for row in node]
        number = torch.tensor([n for n, _ in rows], device=logits.device)
        greedy = [row.key is None for _, row in rows]
        tokens = logps.argmax(-1)[number]
        if not all(greedy):
            cumulated = logps.double().exp().cumsum(-1)
            draws = torch.tensor([0.0 if row.key is None else row.draw() for _, row in rows], device=logits.device)
            level = draws.double() * cumulated[number, -1]
            drawn = torch.empty_like(tokens)
            for start in range(0, len(rows), 4096):
                part = slice(start, start + 4096)
                drawn[part] = torch.searchsorted(cumulated[number[part]], level[part, None], right=True)[:, 0]
            drawn = drawn.clamp(max=logps.shape[-1] - 1)
            tokens = torch.where(torch.tensor(greedy, device=logits.device), tokens, drawn)
        chances = logps[number, tokens].tolist()
        going: dict[tuple[int, int], list[_Row]] = {}
        for (node, row), token, logp in zip(rows, tokens.tolist(), chances, strict=True):
            row.ids.append(token)
            row.logps.append(logp)
            row.ended = token in self.stops
            if not row.ended:
                going.setdefault((node, token), []).append(row)
        return [node for node, _ in going], [token for _, token in going], list(going.values())

    def _padded(self, sequences: Sequence[Ids]) -> tuple[Tensor, Tensor | None]:
        """Pads on the left; returns no mask if nothing was padded."""
        width = max(map(len, sequences))
        device = next(self.model.parameters()).device
        ids = torch.tensor([[self.pad] * (width - len(s)) + list(s) for s in sequences], device=device)
        if all(len(s) == width for s in sequences):
            return ids, None
        return ids, torch.tensor([[0] * (width - len(s)) + [1] * len(s) for s in sequences], device=device)

    def logps(self, pairs: Sequence[tuple[Ids, Ids]], entropy: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        """Recomputes the log-probability of each id of given replies, with gradients if they are enabled.

        Args:
            pairs: Prompts and replies.
            entropy: Whether the entropies carry gradients too.

        Returns:
            Log-probabilities, entropies in nats, and a mask of the ids that exist: each pairs x longest reply, replies
            aligned at their end.
        """
        longest = max(len(reply) for _, reply in pairs)
        ids, mask = self._padded([prompt + reply for prompt, reply in pairs])
        out = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=None if mask is None else (mask.cumsum(1) - 1).clamp(min=0),
            use_cache=False,
            logits_to_keep=longest + 1,
        )
        logits = out.logits[:, -longest - 1 : -1]
        everything = torch.log_softmax(logits if logits.dtype == torch.float64 else logits.float(), -1)
        target = ids[:, -longest:]
        chosen = everything.gather(-1, target[..., None])[..., 0]
        with torch.set_grad_enabled(entropy and torch.is_grad_enabled()):
            spread = -(everything.exp() * everything).sum(-1)
        start = torch.tensor([longest - len(reply) for _, reply in pairs], device=ids.device)
        exists = torch.arange(longest, device=ids.device)[None] >= start[:, None]
        return chosen, spread, exists


def _chunks(sized: list[tuple[int, int, int]], most: int) -> Iterator[list[int]]:
    """Packs prompts, given as length, rows and number, so that their rows hold at most a number of padded tokens.

    The order is always the same. A prompt is never cut, however many rows it has.
    """
    chunk: list[int] = []
    taken = 0
    for size, rows, number in sorted(sized):
        if chunk and (taken + rows) * size > most:
            yield chunk
            chunk, taken = [], 0
        chunk.append(number)
        taken += rows
    if chunk:
        yield chunk


def common(one: Ids, two: Ids) -> int:
    """The length of the common beginning of two sequences."""
    end = min(len(one), len(two))
    return next((i for i in range(end) if one[i] != two[i]), end)


def fingerprint(model: nn.Module) -> int:
    """A key for a model's current weights; torch counts the changes of every tensor."""
    # Only frozen weights are sharded, and they have no storage to identify.
    whole = (parameter for parameter in model.parameters() if not isinstance(parameter, DTensor))
    return hash(tuple((parameter.data_ptr(), parameter._version) for parameter in whole))


def parameters(model: nn.Module) -> list[nn.Parameter]:
    """The trainable parameters."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]
