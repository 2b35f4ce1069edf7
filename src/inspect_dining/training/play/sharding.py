"""Sharded weights: every process of a run holds a part of the base model, and all take part in every forward pass.

`accelerate launch` with a config of FSDP enables it (examples/accelerate/fsdp.yaml). The frozen weights are split by
torch's FSDP2; a layer is whole only while it is computed. The LoRA adapters are small and stay whole in every process,
so gradients, Adam, checkpoints and the saved state are the same as without sharding.

Sharded layers are gathered in every pass, so all processes must make the same number of passes. When they play games of
different length, `together` lets finished processes join the passes of the others with empty ones. When they learn,
`agree` gives the number of passes that each has to make.
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
    """Whether `accelerate launch` was configured for sharded weights."""
    return os.environ.get("ACCELERATE_USE_FSDP", "false").lower() == "true"


class Shards:
    """A model whose frozen weights are sharded across the processes of a run.

    Attributes:
        model: The model, with its adapters.
    """

    def __init__(self, model: PreTrainedModel, accelerator: Accelerator) -> None:
        """Shards a model with adapters; it is moved to the process's device part by part."""
        refusal(model)  # takes a few passes, while each process can still make them alone
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
        """Announces a pass to the other processes, if passes must match."""
        if self._counted:
            self._sum(1)

    def _sum(self, number: int) -> int:
        total = torch.tensor(number, device=self._device)
        torch.distributed.all_reduce(total)
        return int(total)

    def agree(self, number: int) -> int:
        """The maximum over processes."""
        most = torch.tensor(number, device=self._device)
        torch.distributed.all_reduce(most, torch.distributed.ReduceOp.MAX)
        return int(most)

    @contextmanager
    def together(self) -> Iterator[None]:
        """A context in which processes make any number of passes, without gradients; all of them must enter it."""
        self._counted = True
        yield
        self._counted = False
        ids = torch.zeros(1, 1, dtype=torch.long, device=self._device)
        with torch.no_grad():
            while self._sum(0):
                self.model(input_ids=ids, use_cache=False)
