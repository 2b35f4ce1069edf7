"""Sharded weights: every process of a run holds a part of the base model, and all take part in every forward pass.

`accelerate launch` with a config of FSDP asks for it (examples/accelerate/fsdp.yaml). The frozen weights are split by
torch's FSDP2; a layer is whole only while it is computed. The LoRA adapters are small and stay whole in every process,
so that gradients, Adam, checkpoints and the saved state are as without shards.

Sharded layers are gathered in every pass, so all processes must make the same number of passes. Where they play games
of unlike length, `together` has those that are done take part in the passes of the others with an empty one. Where
they learn, `agree` tells how many passes each has to make.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from transformers import PreTrainedModel

from inspect_dining.training.play.prefix import refusal


def wanted() -> bool:
    """Whether `accelerate launch` was asked for sharded weights."""
    return os.environ.get("ACCELERATE_USE_FSDP", "false").lower() == "true"


class Shards:
    """A model whose frozen weights are sharded over the processes of a run.

    Attributes:
        model: The model, with its adapters.
    """

    def __init__(self, model: PreTrainedModel, accelerator: Accelerator) -> None:
        """Shards a model with adapters; it is brought to the device of the process part by part."""
        refusal(model)  # which takes a few passes, as long as each process can make them alone
        self.model, self._device, self._counted = model, accelerator.device, False
        mesh = init_device_mesh(self._device.type, (accelerator.num_processes,))
        trained = {parameter for parameter in model.parameters() if parameter.requires_grad}
        with torch.no_grad():
            for tensor in [*trained, *model.buffers()]:
                tensor.data = tensor.data.to(self._device)
        base: PreTrainedModel = getattr(model, "get_base_model", lambda: model)()
        kinds = set(base._no_split_modules or ())
        for module in base.modules():
            if type(module).__name__ in kinds:
                fully_shard(module, mesh=mesh, ignored_params=trained)
        fully_shard(model, mesh=mesh, ignored_params=trained)
        model.register_forward_pre_hook(self._announce, prepend=True)

    def _announce(self, module: nn.Module, inputs: object) -> None:
        """Tells the others that a pass comes, where they count."""
        if self._counted:
            self._sum(1)

    def _sum(self, number: int) -> int:
        total = torch.tensor(number, device=self._device)
        torch.distributed.all_reduce(total)
        return int(total)

    def agree(self, number: int) -> int:
        """The largest of the numbers that the processes give."""
        most = torch.tensor(number, device=self._device)
        torch.distributed.all_reduce(most, torch.distributed.ReduceOp.MAX)
        return int(most)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Within it processes make as many passes as they like, without gradients; all of them must enter it."""
        self._counted = True
        yield
        self._counted = False
        ids = torch.zeros(1, 1, dtype=torch.long, device=self._device)
        with torch.no_grad():
            while self._sum(0):
                self.model(input_ids=ids, use_cache=False)
