"""A model without chance of its own: the only coin is that of the sampling.

Dropout, stochastic depth or a jittering router would make the learner's probabilities differ from the sampler's, and
every importance weight with them. Modules read such a probability from a number of their own, whatever their mode; so
the numbers are set to 0, and the mode is left at evaluation but where gradient checkpointing asks for training.
"""

from torch import nn
from transformers.modeling_layers import GradientCheckpointingLayer

_CHANCE = ("drop", "jitter")


def make_steady(model: nn.Module) -> None:
    """Switches everything off in a model that draws random numbers, for good."""
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, float) and any(word in name.lower() for word in _CHANCE):
                setattr(module, name, 0.0)
        if isinstance(module, nn.modules.dropout._DropoutNd):
            module.p = 0.0
    model.train(False)


def prepare_gradients(model: nn.Module) -> None:
    """Puts a model in evaluation mode, but for the layers that recompute their activations, which do so in training."""
    model.train(False)
    for module in model.modules():
        if isinstance(module, GradientCheckpointingLayer) and module.gradient_checkpointing:
            module.training = True
