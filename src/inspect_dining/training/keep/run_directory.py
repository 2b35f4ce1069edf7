"""The run directory: everything about a run on disk, written so that a kill at any moment loses nothing.

    recipe.yaml        the recipe          environment.json   versions, platform, threads
    metrics.jsonl      a row a step        records/           the games of every step
    selection.jsonl    the selection games of every checkpoint
    checkpoints/       step-0025 ...       best, last         links into it, with choice.json saying why
    base/              the tiny model      state.pt           where a killed run goes on
    table.json         before and after    curves.png, logs/  pictures and Inspect logs

State is the truth: what was appended after it is cut off when the run goes on, and played again to the same numbers.
"""

import gzip
import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NotRequired, TypedDict

import torch
import yaml

from inspect_dining.errors import BadInput
from inspect_dining.table.record import Record
from inspect_dining.training.keep.checkpoints import write_text
from inspect_dining.training.recipe import Recipe, checked

RETIRED = (("turn_baseline", False),)
"""Keys of older recipes that are gone, with the value at which they change nothing."""
Row = dict[str, float]
"""The metrics of one step."""


class State(TypedDict):
    """From where a killed run goes on."""

    step: int
    """Steps taken."""
    restarts: int
    """How often it started again."""
    since: int
    """The step of the last restart."""
    weights: dict[str, torch.Tensor]
    """The trained weights."""
    optimizer: dict[str, object]
    """Adam's state."""
    credit: NotRequired[dict[str, object]]
    """The state of the source of credit; older runs have none."""


class RunDir:
    """One run's directory.

    Attributes:
        path: Where it is.
    """

    def __init__(self, path: Path) -> None:
        """Names a directory; nothing is made yet."""
        self.path = path

    @property
    def base(self) -> Path:
        """Where the tiny base model is kept."""
        return self.path / "base"

    @property
    def best(self) -> Path:
        """The chosen checkpoint."""
        return self.path / "best"

    @property
    def last(self) -> Path:
        """The last checkpoint."""
        return self.path / "last"

    def checkpoint(self, step: int) -> Path:
        """The folder of a step's checkpoint."""
        return self.path / "checkpoints" / f"step-{step:04d}"

    def start(self, recipe: Recipe) -> None:
        """Makes the directory of a new run.

        Raises:
            BadInput: There is a run in it already.
        """
        if (self.path / "recipe.yaml").exists():
            raise BadInput(f"There is a run in {self.path} already; give --resume to go on with it, or another --out.")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_text(self.path / "environment.json", json.dumps(environment(), indent=2) + "\n")
            self.keep_recipe(recipe)
        except OSError as error:
            raise BadInput(f"The run directory {self.path} cannot be written: {error.strerror or error}.") from None

    def keep_recipe(self, recipe: Recipe) -> None:
        """Writes the recipe."""
        write_text(self.path / "recipe.yaml", yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False))

    def recipe(self) -> Recipe:
        """The recipe of the run that is here.

        Raises:
            BadInput: There is none.
        """
        file = self.path / "recipe.yaml"
        if not file.is_file():
            raise BadInput(f"There is no run in {self.path}: recipe.yaml is missing; start one without --resume.")
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
        return checked({key: value for key, value in data.items() if (key, value) not in RETIRED})

    def append(self, name: str, row: Mapping[str, object]) -> None:
        """Adds a row to one of the tables."""
        with (self.path / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, allow_nan=False) + "\n")
            file.flush()

    def rows(self, name: str, before: int | None = None) -> list[dict[str, float]]:
        """The rows of a table, up to a step; a row that a kill cut off is no row."""
        file = self.path / name
        if not file.is_file():
            return []
        whole = [line for line in file.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
        rows: list[dict[str, float]] = [json.loads(line) for line in whole]
        return rows if before is None else [row for row in rows if row["step"] < before]

    def cut(self, step: int) -> None:
        """Cuts off what was appended after the state of a step."""
        for name, before in (("metrics.jsonl", step), ("selection.jsonl", step + 1)):
            kept = self.rows(name, before)
            write_text(self.path / name, "".join(json.dumps(row, allow_nan=False) + "\n" for row in kept))

    def keep_records(self, step: int, records: Sequence[Record]) -> None:
        """Keeps the games of a step, the same bytes for the same games."""
        folder = self.path / "records"
        folder.mkdir(exist_ok=True)
        file = folder / f"step-{step:04d}.jsonl.gz"
        data = "".join(record.to_json() + "\n" for record in records).encode()
        beside = file.with_name(f".{file.name}.part")
        beside.write_bytes(gzip.compress(data, 6, mtime=0))
        beside.replace(file)

    def save_state(self, state: State) -> None:
        """Writes the state from which a killed run goes on."""
        beside = self.path / ".state.pt.part"
        with beside.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path / "state.pt")

    def state(self) -> State | None:
        """The latest state, or None before the first."""
        file = self.path / "state.pt"
        if not file.is_file():
            return None
        loaded: State = torch.load(file, map_location="cpu", weights_only=True)
        return loaded


def environment() -> dict[str, object]:
    """What a run depends on besides its recipe."""
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
