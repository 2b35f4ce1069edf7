"""What a run depends on apart from its recipe, and differences between two such descriptions."""

import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

import torch

from inspect_dining.border import plain


def differences(old: object, new: Mapping[str, object]) -> list[str]:
    """The differences between two sets of plain values, as `steps 40 (was 30)`."""
    before = old if isinstance(old, Mapping) else {}
    after = json.loads(json.dumps(new))
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return [plain(f"{key} {after.get(key)} (was {before.get(key)})") for key in keys]


def environment() -> dict[str, object]:
    """What a run depends on apart from its recipe."""
    versions = {}
    for name in ("inspect-dining", "inspect-ai", "torch", "transformers", "peft", "accelerate", "numpy"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "threads": torch.get_num_threads(),
        "processes": int(os.environ.get("WORLD_SIZE", "1")),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "versions": versions,
    }
