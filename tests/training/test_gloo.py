"""The gradient of two gloo processes is that of one, to the last bits of float64."""

import socket
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection

import pytest
import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from torch.distributed.tensor import DTensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from inspect_dining.table import Rules
from inspect_dining.training.learn.diversity import apart, first_replies
from inspect_dining.training.learn.objective import Group, pairs
from inspect_dining.training.learn.updates import Updater
from inspect_dining.training.play.loading import dinner, with_adapters
from inspect_dining.training.play.rollouts import Dinner, Play
from inspect_dining.training.play.sharding import Shards
from inspect_dining.training.recipe import Recipe

ENTROPY, BONUS = -0.03, 0.5


def played(seated: Dinner) -> list[Group]:
    """Two groups with spread, and one without."""
    seated.policy.max_tokens = 3
    made = []
    for g, rewards in enumerate([(0.1, 0.9, 0.4), (0.5, 0.5, 0.5), (0.3, 0.3, 0.8)]):
        rules = Rules(n=2 + g % 2, rounds=3)
        episodes = tuple(seated.play([Play(rules, g, f"{g}/{member}") for member in range(3)]))
        made.append(Group(str(g), episodes, rewards))
    return made


def gradient(
    seated: Dinner, accelerator: Accelerator, all_groups: Sequence[Group], mine: Sequence[int]
) -> torch.Tensor:
    """The gradient of a step as the run takes it, from the groups of this process."""
    own, planned = [all_groups[g] for g in mine], len(all_groups)
    bonus = apart(own, first_replies(all_groups), planned, BONUS)
    updater = Updater(seated.policy, accelerator, micro_tokens=100)
    updater.gradient(pairs(own, planned=planned), ENTROPY, bonus)
    return torch.cat([p.grad.flatten() for p in updater.trained if p.grad is not None])


def process(
    rank: int, port: int, seated: Dinner, groups: list[Group], mine: list[int], sharded: bool, answer: Connection
) -> None:
    """One of two processes."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "MASTER_PORT": port}.items():
            environment.setenv(name, str(value))
        environment.setenv("MASTER_ADDR", "127.0.0.1")
        environment.setenv("ACCELERATE_USE_CPU", "true")
        accelerator = Accelerator(cpu=True)
        assert accelerator.num_processes == 2
        if sharded:
            seated.policy.shards = Shards(seated.policy.model, accelerator)
            assert any(isinstance(parameter, DTensor) for parameter in seated.policy.model.parameters())
            with seated.policy.together():
                for g in mine:
                    rules = groups[g].episodes[0].record.rules
                    again = seated.play([Play(rules, g, f"{g}/{member}") for member in range(3)])
                    assert [e.record for e in again] == [e.record for e in groups[g].episodes]
        answer.send(gradient(seated, accelerator, groups, mine).tolist())
        torch.distributed.destroy_process_group()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shares", [([0, 2], [1]), ([0, 1], [2])], ids=["one-without-spread", "both-with-spread"])
@pytest.mark.parametrize("sharded", [False, True])
def test_two_processes_have_the_gradient_of_one(
    raw: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, shares: tuple[list[int], list[int]], sharded: bool
) -> None:
    """A process without a group with spread has nothing to go backward through, and must still take part in the sum.

    Where the weights are sharded, it must also take part in every pass of the other, of which there are several.
    """
    recipe = Recipe(lora_rank=2 if sharded else 0)
    model = with_adapters(raw, recipe).double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.3, generator=torch.Generator().manual_seed(1))
    seated = dinner(model, tokenizer, recipe)
    groups = played(seated)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    fork = get_context("fork")
    pipes = [fork.Pipe(duplex=False) for _ in shares]
    processes = [
        fork.Process(target=process, args=(rank, port, seated, groups, mine, sharded, pipes[rank][1]))
        for rank, mine in enumerate(shares)
    ]
    for one in processes:
        one.start()
    try:
        assert all(ours.poll(600) for ours, _ in pipes)
        found = [torch.tensor(ours.recv(), dtype=torch.float64) for ours, _ in pipes]
    finally:
        for one in processes:
            one.join(10)
            one.kill()
    expected = gradient(seated, Accelerator(cpu=True), groups, [0, 1, 2])
    scale = float(expected.abs().max())
    assert scale > 0
    for got in found:
        assert float((got - expected).abs().max()) <= 1e-9 * scale
