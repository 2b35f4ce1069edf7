"""Runs in ART's interpreter: what ART's own types and its own tokenisation make of a step of ours.

    python -P art_contract.py CHILD TOKENIZER STEP.json ...

CHILD is the file `openpipe_child.py`; what ART makes of STEP.json goes to STEP.out beside it. ART's tokenisation
imports torch for a type and uses nothing of it, and there is no torch here, so a module without contents stands in its
place.
"""

import importlib.machinery
import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import art


class Child(Protocol):
    """What is used of the child."""

    def groups_of(self, step: object) -> "list[art.TrajectoryGroup]":
        """The groups as ART's own types."""
        ...


def loaded(path: str) -> Child:
    """The child process's code, as a module."""
    spec = importlib.util.spec_from_file_location("openpipe_child", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    child: Child = module
    return child


def main(child: str, tokenizer_folder: str, *steps: str) -> None:
    """Tokenises steps, each also with rewards that are all alike, and with turns that have lost their ids."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    torch = types.ModuleType("torch")
    torch.__spec__ = importlib.machinery.ModuleSpec("torch", None)
    sys.modules["torch"] = torch
    from art.preprocessing.tokenize import tokenize_trajectory_groups

    ours = loaded(child)
    for file in map(Path, steps):
        step = json.loads(file.read_text(encoding="utf-8"))
        groups = ours.groups_of(step)
        results = tokenize_trajectory_groups(
            tokenizer, groups, allow_training_without_logprobs=False, scale_rewards=step["scale_rewards"]
        )
        rows = [
            {
                "ids": one.token_ids,
                "mask": one.assistant_mask,
                "logps": [logp for logp, sampled in zip(one.logprobs, one.assistant_mask, strict=True) if sampled],
                "advantage": one.advantage,
                "weight": one.weight,
            }
            for one in results
        ]
        for group in groups:
            for one in group:
                one.reward = 0.25
        alike = len(list(tokenize_trajectory_groups(tokenizer, groups, False, False)))
        for number, one in enumerate(one for group in groups for one in group):
            one.reward = float(number)
        for group in groups:
            for one in group:
                for item in one.messages_and_choices:
                    if not isinstance(item, dict):
                        item.model_extra.clear()
        try:
            list(tokenize_trajectory_groups(tokenizer, groups, False, False))
            without_ids = "accepted"
        except RuntimeError as error:
            without_ids = str(error)
        told = {"rows": rows, "alike": alike, "without_ids": without_ids}
        file.with_suffix(".out").write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
