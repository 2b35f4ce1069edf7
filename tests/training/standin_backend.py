"""A stand-in for ART's backends on a machine without a GPU: it runs in ART's interpreter, on ART's own types.

It keeps what `train` was given in `received.json`, and answers with the adapter that it began with, every weight of it
larger by 1/64.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import art
    from art.types import LocalTrainResult


class Backend:
    """What ART's protocol of a backend asks for, without a model."""

    def __init__(self, *, path: str) -> None:
        self._path = path

    async def close(self) -> None:
        (Path(self._path).parent / "closed").touch()

    async def register(self, model: "art.Model") -> None:
        """Takes a model."""

    async def _get_step(self, model: "art.TrainableModel") -> int:
        from art.utils.get_model_step import get_model_step

        return int(get_model_step(model, self._path))

    async def _delete_checkpoint_files(self, model: "art.TrainableModel", steps_to_keep: list[int]) -> None:
        from art.utils.output_dirs import get_model_dir

        for folder in (Path(get_model_dir(model, self._path)) / "checkpoints").iterdir():
            if int(folder.name) not in steps_to_keep:
                shutil.rmtree(folder)

    async def _prepare_backend_for_training(self, model: "art.TrainableModel", config: object) -> tuple[str, str]:
        return "", ""

    async def train(
        self, model: "art.TrainableModel", groups: "Sequence[art.TrajectoryGroup]", **options: object
    ) -> "LocalTrainResult":
        """Keeps what it was given and moves the adapter."""
        import numpy as np
        from art.types import LocalTrainResult
        from art.utils.output_dirs import get_model_dir, get_step_checkpoint_dir
        from safetensors.numpy import load_file, save_file

        step = await self._get_step(model)
        folder = get_model_dir(model, self._path)
        old, new = (Path(get_step_checkpoint_dir(folder, number)) for number in (step, step + 1))
        new.mkdir()
        (new / "adapter_config.json").write_bytes((old / "adapter_config.json").read_bytes())
        weights = load_file(old / "adapter_model.safetensors")
        save_file({k: v + np.float32(1 / 64) for k, v in weights.items()}, new / "adapter_model.safetensors")
        received = {
            "options": options,
            "base_model": model.base_model,
            "lora": model.lora_config,
            "internal": model._internal_config,
            "groups": [
                [
                    {
                        "reward": one.reward,
                        "metrics": one.metrics,
                        "metadata": one.metadata,
                        "histories": 1 + len(one.additional_histories),
                        "conversation": [
                            item if isinstance(item, dict) else item.model_dump() for item in one.messages_and_choices
                        ],
                    }
                    for one in group.trajectories
                ]
                for group in groups
            ],
        }
        kept = Path(self._path).parent.parent / "received.jsonl"
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(received) + "\n")
        return LocalTrainResult(step=step + 1, metrics={"loss/grad_norm": 0.5}, checkpoint_path=str(new))
