"""The run directory: everything about a run on disk, written so that being killed at any moment loses nothing.

    recipe.yaml        the recipe          environment.json   versions, platform, threads
    metrics.jsonl      a row per step        records/           the games of every step
    selection.jsonl    the selection games of every checkpoint
    checkpoints/       step-0025 ...       best, last         links into it, with choice.json saying why
    base/              the tiny model      state-0010.pt      where a killed run continues, with state.json, which says
    table.json         before and after                       which recipe, metrics and file it belongs to
    curves.png, logs/  pictures and Inspect logs              lock.json: the process that writes here

The state decides: anything appended after it is cut off when the run continues, and is replayed to the same numbers.
It is checked before it is used: a directory that was changed, damaged or mixed up is refused in a sentence.
"""

import gzip
import json
import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import NotRequired, TypedDict

import torch
import yaml
from filelock import FileLock, Timeout

from inspect_dining.border import plain, read_json, read_text, read_yaml
from inspect_dining.errors import BadInput
from inspect_dining.files import append, write, writing
from inspect_dining.table.record import Record
from inspect_dining.training.keep.environment import differences, environment
from inspect_dining.training.recipe import Recipe, checked

RETIRED = (("turn_baseline", False),)
"""Removed keys of older recipes, with the value at which they have no effect."""
MetricsRow = dict[str, float]
"""The metrics of one step."""


SEAL = "state.json"
"""The file that states what the state belongs to."""
MOST_TABLE = 2**30
"""The maximum bytes of a table."""
_HELD: dict[Path, FileLock] = {}
"""The directories that this process holds."""


class State(TypedDict):
    """The state from which a killed run continues."""

    step: int
    """Steps taken."""
    restarts: int
    """The number of restarts."""
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
        path: The path of the directory.
    """

    def __init__(self, path: Path) -> None:
        """Names a directory; nothing is created yet."""
        self.path = path

    @property
    def base(self) -> Path:
        """The folder of the tiny base model."""
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

    def lock(self) -> None:
        """Makes this process the only one that writes here, until it ends or releases it.

        Raises:
            BadInput: Another process writes here; the message names it.
        """
        key = self.path.resolve()
        if key in _HELD:
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            held = FileLock(self.path / ".lock")
            held.acquire(timeout=0)
        except Timeout:
            raise BadInput(
                f"{self.path} is in use{self._owner()}; a run directory has one writer. Wait for it to end, or give "
                "another --out."
            ) from None
        except OSError as error:
            raise BadInput(f"The run directory {self.path} cannot be written: {error.strerror or error}.") from None
        _HELD[key] = held
        write(self.path / "lock.json", json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": _now()}))
        for folder in (self.path, self.path / "checkpoints", self.path / "records"):
            for left in folder.glob(".*.*") if folder.is_dir() else ():
                # what a killed process left half-written
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)

    def release(self) -> None:
        """Lets another process write here."""
        held = _HELD.pop(self.path.resolve(), None)
        if held is not None:
            (self.path / "lock.json").unlink(missing_ok=True)
            held.release()

    def _owner(self) -> str:
        """The end of a clause that names the process writing here."""
        try:
            owner = read_json(self.path / "lock.json", 10_000)
        except ValueError:
            return " by another process"
        told = owner if isinstance(owner, dict) else {}
        return plain(f" by process {told.get('pid')} on {told.get('host')} since {told.get('since')}")

    def start(self, recipe: Recipe) -> None:
        """Creates the directory of a new run.

        Raises:
            BadInput: It already holds a run, or another process writes here.
        """
        self._refuse_another()
        self.lock()
        try:
            self._refuse_another()  # another process may have used and released it in between
        except BadInput:
            self.release()
            raise
        write(self.path / "environment.json", json.dumps(environment(), indent=2) + "\n")
        self.keep_recipe(recipe)

    def _refuse_another(self) -> None:
        if (self.path / "recipe.yaml").exists():
            raise BadInput(f"There is a run in {self.path} already; give --resume to continue it, or another --out.")

    def keep_recipe(self, recipe: Recipe) -> None:
        """Writes the recipe, and also records it as that of the state, if there is one."""
        write(self.path / "recipe.yaml", yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False))
        seal = self.seal()
        if seal is not None:
            write(self.path / SEAL, json.dumps({**seal, "recipe": recipe.model_dump(mode="json")}, indent=1) + "\n")

    def recipe(self) -> Recipe:
        """The recipe of the run in this directory.

        Raises:
            BadInput: There is no recipe, or it is not valid.
        """
        file = self.path / "recipe.yaml"
        if not file.is_file():
            raise BadInput(f"There is no run in {self.path}: recipe.yaml is missing; start one without --resume.")
        try:
            data = read_yaml(file)
        except ValueError as error:
            raise BadInput(str(error)) from None
        if not isinstance(data, dict):
            raise BadInput(f"{file} holds {type(data).__name__}; keys with values were expected.")
        return checked({key: value for key, value in data.items() if (key, value) not in RETIRED})

    def seal(self) -> dict[str, object] | None:
        """The seal of the state: its file and checksum, the recipe, the environment, checksums of the tables.

        Raises:
            BadInput: The seal is damaged.
        """
        if not (self.path / SEAL).is_file():
            return None
        try:
            seal = read_json(self.path / SEAL)
        except ValueError as error:
            raise BadInput(str(error)) from None
        if not isinstance(seal, dict) or not isinstance(seal.get("file"), str) or not isinstance(seal.get("step"), int):
            raise BadInput(f"{self.path / SEAL} is damaged; it does not say which state it belongs to.")
        return seal

    def check(self, recipe: Recipe, accept: bool = False) -> list[str]:
        """Checks that the directory matches its saved state.

        Args:
            recipe: The recipe with which the run continues.
            accept: Whether a recipe that has changed since is accepted.

        Returns:
            Sentences on accepted differences.

        Raises:
            BadInput: A difference is not accepted.
        """
        seal = self.seal()
        if seal is None:
            return []
        notes = []
        changed = differences(_as_now(seal.get("recipe")), recipe.model_dump(mode="json"))
        if changed and not accept:
            raise BadInput(
                f"The recipe of {self.path} was changed since its state was saved: {'; '.join(changed)}. Put it back, "
                "or give --accept-changes to continue with it as it is."
            )
        if changed:
            notes.append(f"The recipe was changed since the state was saved: {'; '.join(changed)}.")
        step = int(str(seal["step"]))
        file = self.path / Path(str(seal["file"])).name
        if not file.is_file() or _checksum(file) != seal.get("sha256"):
            raise BadInput(
                f"{file} is {'not what was saved' if file.is_file() else 'missing'}; the run cannot continue from it. "
                "Restore it, or start another run."
            )
        for name, before in self._tables(step):
            if self._digest(name, before) != seal.get(name):
                raise BadInput(
                    f"{self.path / name} has changed since the state of step {step} was saved; the run cannot continue "
                    "from it. Restore it, or start another run."
                )
        now = environment()
        notes += [f"Unlike before: {one}." for one in differences(seal.get("environment"), now)]
        return notes

    def _tables(self, step: int) -> Sequence[tuple[str, int]]:
        """The tables, each with the step up to which its rows belong to a state."""
        return ("metrics.jsonl", step), ("selection.jsonl", step + 1)

    def _digest(self, name: str, before: int) -> str:
        rows = self.rows(name, before)
        return sha256("".join(json.dumps(row) + "\n" for row in rows).encode()).hexdigest()

    def append(self, name: str, row: Mapping[str, object]) -> None:
        """Adds a row to one of the tables."""
        append(self.path / name, json.dumps(row, allow_nan=False))

    def rows(self, name: str, before: int | None = None) -> list[dict[str, float]]:
        """The rows of a table, up to a step; a row cut off by a kill is ignored.

        Raises:
            BadInput: The table is damaged.
        """
        file = self.path / name
        if not file.is_file():
            return []
        try:
            text = read_text(file, MOST_TABLE)
            rows = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
            if not all(isinstance(row, dict) and isinstance(row.get("step"), int) for row in rows):
                raise ValueError("a row has no step")
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{file} is damaged: {plain(error)}.") from None
        return rows if before is None else [row for row in rows if row["step"] < before]

    def cut(self, step: int) -> None:
        """Cuts off what was appended after the state of a step."""
        for name, before in self._tables(step):
            kept = self.rows(name, before)
            write(self.path / name, "".join(json.dumps(row, allow_nan=False) + "\n" for row in kept))

    def keep_records(self, step: int, records: Sequence[Record]) -> None:
        """Saves the games of a step, the same bytes for the same games."""
        folder = self.path / "records"
        folder.mkdir(exist_ok=True)
        data = "".join(record.to_json() + "\n" for record in records).encode()
        write(folder / f"step-{step:04d}.jsonl.gz", gzip.compress(data, 6, mtime=0))

    def save_state(self, state: State, recipe: Recipe) -> None:
        """Writes the state from which a killed run continues, and seals it with what it belongs to.

        The seal is written last: until then, the previous state is valid.
        """
        file, step = self.path / f"state-{state['step']:04d}.pt", state["step"]
        with writing(file) as beside:
            torch.save(state, beside)
        seal = {
            "file": file.name,
            "step": step,
            "sha256": _checksum(file),
            "recipe": recipe.model_dump(mode="json"),
            "environment": environment(),
            **{name: self._digest(name, before) for name, before in self._tables(step)},
        }
        write(self.path / SEAL, json.dumps(seal, indent=1) + "\n")
        for old in self.path.glob("state*.pt"):
            if old != file:
                old.unlink()

    def state(self) -> State | None:
        """The latest state, or None before the first; `check` verifies it.

        Raises:
            BadInput: It is not a state.
        """
        seal = self.seal()
        # runs from before seals existed have only a state.pt
        file = self.path / (Path(str(seal["file"])).name if seal else "state.pt")
        if not file.is_file():
            return None
        try:
            loaded: State = torch.load(file, map_location="cpu", weights_only=True)
            if not State.__required_keys__ <= loaded.keys():
                raise ValueError("keys are missing")
        except Exception as error:  # noqa: BLE001  torch may raise anything
            raise BadInput(f"{file} is not a state of a run: {plain(str(error).splitlines()[0])}.") from None
        return loaded


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _checksum(file: Path) -> str:
    digest = sha256()
    with file.open("rb") as opened:
        while part := opened.read(2**20):
            digest.update(part)
    return digest.hexdigest()


def _as_now(recipe: object) -> object:
    """A recipe that an older inspect_dining may have saved, with the keys added since."""
    if not isinstance(recipe, Mapping):
        return {}
    try:
        return checked({k: v for k, v in recipe.items() if (k, v) not in RETIRED}).model_dump(mode="json")
    except BadInput:
        return recipe
