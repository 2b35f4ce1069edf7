"""Shared prefixes: the keys and values of a common beginning of prompts, computed once and read by all rows.

transformers allows a library to register its own attention function. Ours is plain `sdpa`, except in a call that is
given a `dining_prefix`: a `Recorder` stores the keys and values that pass through a layer; a `Reader` puts stored ones
before those of the rows, each of which may attend to all of them. `shares` determines whether a model allows this, and
custom masks; layers with sliding windows, linear attention or recurrence do not.
"""

from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

_ATTENTION = "inspect_dining_prefix"
SCORES = 2**26
"""The maximum query-key products held at once per layer, if no gradient is needed."""


class Recorder:
    """Stores the keys and values of a prefix, layer by layer.

    Attributes:
        kept: For every layer, keys and values: 1 x heads x length x width.
    """

    def __init__(self) -> None:
        """Begins empty."""
        self.kept: dict[int, tuple[Tensor, Tensor]] = {}

    def attend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Stores the keys and values of a layer."""
        # Under checkpointing, a layer is recomputed for its gradient and calls this again.
        self.kept.setdefault(layer, (key, value))
        return key, value


class Reader:
    """Provides the keys and values of a prefix to later rows, and collects their gradient."""

    def __init__(self, recorder: Recorder, length: int | None = None) -> None:
        """Takes a recording, or a given length of its beginning."""
        self._kept = {
            layer: (key[:, :, :length], value[:, :, :length]) for layer, (key, value) in recorder.kept.items()
        }
        self.leaves = {
            layer: (key.detach().requires_grad_(key.requires_grad), value.detach().requires_grad_(value.requires_grad))
            for layer, (key, value) in self._kept.items()
        }

    def attend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Puts the prefix before the rows' own keys and values."""
        first_key, first_value = self.leaves[layer]
        rows = len(key)
        return (
            torch.cat([first_key.expand(rows, -1, -1, -1), key], 2),
            torch.cat([first_value.expand(rows, -1, -1, -1), value], 2),
        )

    def backward(self, output: Tensor | None = None) -> None:
        """Propagates the gradient, after the last read.

        Args:
            output: The output of the prefix, if the model is sharded: its layers are gathered for a gradient that
                reaches their output, even if it is 0.
        """
        ends: list[Tensor] = [] if output is None else [output]
        slopes: list[Tensor] = [torch.zeros_like(end) for end in ends]
        for layer, leaves in self.leaves.items():
            for leaf, kept in zip(leaves, self._kept[layer], strict=True):
                if leaf.grad is not None:
                    ends.append(kept)
                    slopes.append(leaf.grad)
        if ends:
            torch.autograd.backward(ends, slopes)


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dining_prefix: Recorder | Reader | None = None,
    **options: object,
) -> tuple[Tensor, None]:
    """Attention by `sdpa`, with the keys and values of a prefix before those of the rows."""
    if dining_prefix is not None:
        layer = module.layer_idx
        assert isinstance(layer, int)
        if isinstance(dining_prefix, Reader) and not torch.is_grad_enabled():
            return _read(query, key, value, attention_mask, dining_prefix.leaves[layer], options.get("scaling")), None
        key, value = dining_prefix.attend(layer, key, value)
    # The options are the model's own and are passed on unchanged.
    return sdpa_attention_forward(module, query, key, value, attention_mask, **options)  # type: ignore[arg-type]


def _read(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    prefix: tuple[Tensor, Tensor],
    scale: object,
) -> Tensor:
    """Attention to a prefix and to the rows' own keys, without a gradient.

    The prefix is not copied for the rows; one product applies all their queries to it.

    Args:
        query: rows x heads x length x width.
        key: rows x key-value heads x own length x width.
        value: The same.
        mask: rows or 1 x 1 x length x own length or prefix and own length, true if a query may attend; None is causal.
        prefix: The prefix's keys and values: 1 x key-value heads x prefix length x width.
        scale: The factor of query-key products; None for one over the square root of the width.

    Returns:
        rows x length x heads x width.
    """
    rows, heads, length, width = query.shape
    kinds, own, start = key.shape[1], key.shape[2], prefix[0].shape[2]
    most = max(1, SCORES // (heads * length * (start + own)))
    if rows > most:
        parts = [slice(i, i + most) for i in range(0, rows, most)]
        masks = [mask if mask is None or len(mask) == 1 else mask[part] for part in parts]
        return torch.cat([
            _read(query[part], key[part], value[part], shown, prefix, scale)
            for part, shown in zip(parts, masks, strict=True)
        ])
    query = query * (scale if isinstance(scale, float) else width**-0.5)
    # Heads that share keys are grouped.
    grouped = query.reshape(rows, kinds, heads // kinds * length, width)
    flat = grouped.transpose(0, 1).reshape(kinds, -1, width)
    to_prefix = (flat @ prefix[0][0].mT).view(kinds, rows, -1, start).transpose(0, 1)
    to_own = (grouped @ key.mT).view(rows, kinds, -1, length, own)
    if mask is None and length > 1:
        mask = torch.ones(length, own, dtype=torch.bool, device=query.device).tril(own - length)[None, None]
    if mask is not None:
        to_own = to_own.masked_fill(~mask[:, :, None, :, -own:], -torch.inf)
    scores = torch.cat([to_prefix, to_own.reshape(rows, kinds, -1, own)], -1)
    chances = torch.softmax(scores, -1, dtype=torch.float32 if scores.dtype == torch.bfloat16 else None).to(value.dtype)
    first = chances[..., :start].transpose(0, 1).reshape(kinds, -1, start) @ prefix[1][0]
    made = first.view(kinds, rows, -1, width).transpose(0, 1) + chances[..., start:] @ value
    return made.reshape(rows, heads, length, width).transpose(1, 2)


AttentionInterface.register(_ATTENTION, _attention)
AttentionMaskInterface.register(_ATTENTION, sdpa_mask)

_KNOWN: "WeakKeyDictionary[PreTrainedModel, str]" = WeakKeyDictionary()


def refusal(model: PreTrainedModel) -> str:
    """Why a model does not support prefixes and tree masks; empty if it does, and it is then prepared for them."""
    if model not in _KNOWN:
        _KNOWN[model] = _refusal(model)
    return _KNOWN[model]


def _refusal(model: PreTrainedModel) -> str:
    bare: PreTrainedModel = getattr(model, "get_base_model", lambda: model)()
    config = bare.config
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    if kinds != {"full_attention"}:
        return f"the model has layers of {', '.join(sorted(kinds - {'full_attention'}))}"
    if getattr(config, "sliding_window", None) or getattr(config, "attention_chunk_size", None):
        return "the model attends within a window"
    before = str(config._attn_implementation)
    if before not in ("sdpa", _ATTENTION):
        return f"the model attends by {before}, not by sdpa"
    bare.set_attn_implementation(_ATTENTION)
    if _agrees(model):
        return ""
    bare.set_attn_implementation(before)
    return "its layers do more than attend to what a mask shows"


def _agrees(model: PreTrainedModel) -> bool:
    """Whether a few ids after a prefix, packed as a tree, give the same logits as in separate rows."""
    embedding = model.get_input_embeddings()
    number, device = getattr(embedding, "num_embeddings", 1), next(model.parameters()).device
    ids = torch.tensor([[(7 * i + 3) % number for i in range(8)]], device=device)
    other = torch.cat([ids[:, :4], ids[:, 7:]], 1)
    training = model.training
    model.train(False)
    try:
        with torch.no_grad():
            plain, branch = (model(input_ids=row, use_cache=False).logits[0] for row in (ids[:, :7], other))
            recorder = Recorder()
            model(input_ids=ids[:, :2], use_cache=False, dining_prefix=recorder)
            # Two ids seen by all, five in sequence, and one that sees only the first two of these.
            own = torch.ones(6, 6, dtype=torch.bool, device=device).tril()
            own[5, 2:5] = False
            packed = model(
                input_ids=torch.cat([ids[:, 2:7], ids[:, 7:]], 1),
                attention_mask=torch.cat([own.new_ones(6, 2), own], 1)[None, None],
                position_ids=torch.tensor([[2, 3, 4, 5, 6, 4]], device=device),
                use_cache=False,
                dining_prefix=Reader(recorder),
            ).logits[0]
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
        return False
    finally:
        model.train(training)
    expected = torch.cat([plain[2:], branch[4:]])
    rounding = 0.05 if expected.dtype in (torch.bfloat16, torch.float16) else 1e-4
    return bool((packed - expected).abs().max() <= rounding * expected.abs().max())
