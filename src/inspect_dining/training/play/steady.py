"""A model without internal randomness: only sampling is random.

Dropout, stochastic depth or a jittering router would make the learner's probabilities differ from the sampler's, and so
all importance weights. Some modules read such a probability from their own attribute in any mode, so the attributes are
set to 0. The mode is evaluation, except where gradient checkpointing needs training mode.
"""

from torch import nn
from transformers.modeling_layers import GradientCheckpointingLayer

_CHANCE = ("drop", "jitter")


def make_steady(model: nn.Module) -> None:
    """Permanently switches off everything in a model that draws random numbers."""
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, float) and any(word in name.lower() for word in _CHANCE):
                setattr(module, name, 0.0)
        if isinstance(module, nn.modules.dropout._DropoutNd):
            module.p = 0.0
    model.train(False)


def prepare_gradients(model: nn.Module) -> None:
    """Puts a model in evaluation mode, but layers that recompute their activations in training mode."""
    model.train(False)
    for module in model.modules():
        if isinstance(module, GradientCheckpointingLayer) and module.gradient_checkpointing:
            module.training = True
