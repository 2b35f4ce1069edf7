"""OpenPipe ART as the learner: its backends train our groups in a child process with its own interpreter.

ART's pins conflict with Inspect's and it needs a newer Python, so this module imports nothing from it. Each step's
groups are passed as a file (see `trajectories`), and an adapter is returned as a folder. ART starts from this run's
adapter and only takes steps. The run itself still decides which games are played, which checkpoint is kept and where a
killed run continues.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import fmean
from uuid import uuid4

from peft import set_peft_model_state_dict
from safetensors.torch import load_file
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.files import write
from inspect_dining.training.children import inherited
from inspect_dining.training.keep.checkpoints import save
from inspect_dining.training.keep.run_directory import MetricsRow
from inspect_dining.training.learn.art import child as art_child
from inspect_dining.training.learn.art.child import Setup
from inspect_dining.training.learn.art.trajectories import step_of
from inspect_dining.training.learn.objective import Group, pairs
from inspect_dining.training.play.policy import Policy
from inspect_dining.training.protocols import LearnerState, Lesson
from inspect_dining.training.recipe import TINY, Recipe

NEEDED = (0, 5, 23)
"""The oldest version of openpipe-art with the interface used here."""
_INSTALL = (
    "make an environment of Python 3.12 or later, install openpipe-art 0.5.23 or later there "
    "(openpipe-art[backend] for the local backend), and give --art-python ENVIRONMENT/bin/python"
)


def check(recipe: Recipe, processes: int = 1) -> None:
    """Checks the requirements of a run with ART, before anything is created.

    Raises:
        BadInput: Something is missing or incompatible.
    """
    if recipe.art_python is None:
        raise BadInput(f"--learner art runs OpenPipe ART in its own interpreter: {_INSTALL}.")
    if not recipe.lora_rank:
        raise BadInput("--learner art trains LoRA adapters and lora_rank is 0; give --lora-rank 8, say.")
    if recipe.memory != 0:
        raise BadInput(
            f"--learner art passes turns without memory, but memory is {recipe.memory}; train with --memory 0, "
            "or with --learner torch."
        )
    if processes > 1:
        raise BadInput(
            f"--learner art was started in {processes} processes; ART distributes its own work, so start one."
        )
    if recipe.art_backend == "serverless":
        if recipe.model == TINY or Path(recipe.model).exists():
            raise BadInput(
                f"--art-backend serverless trains models of its host, but {recipe.model} is on this machine; "
                "give the hub name of a model that it offers, or --art-backend local."
            )
        if not os.environ.get("WANDB_API_KEY"):
            raise BadInput("--art-backend serverless needs an account: put its key into WANDB_API_KEY.")
    elif recipe.art_backend != "local" and ":" not in recipe.art_backend:
        raise BadInput(
            f"--art-backend {recipe.art_backend} is not accepted; accepted: local, serverless, or MODULE:CLASS."
        )
    found = _installed(recipe.art_python)
    if found.art is None:
        raise BadInput(f"{recipe.art_python} has no openpipe-art: {_INSTALL}.")
    if tuple(int(part) for part in found.art.split(".")[:3] if part.isdigit()) < NEEDED:
        raise BadInput(
            f"{recipe.art_python} is Python {found.python} with openpipe-art {found.art}, which is too old: {_INSTALL}."
        )


@dataclass(frozen=True, slots=True)
class _Installed:
    """The versions in an interpreter."""

    python: str
    art: str | None


def _installed(python: str) -> _Installed:
    """Queries an interpreter for its versions, without importing ART."""
    try:
        asked = subprocess.run(
            [python, "-P", art_child.__file__],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env=inherited(),
        )
        told = json.loads(asked.stdout)
        return _Installed(told["python"], told["art"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        why = getattr(error, "strerror", None) or "it does not run as Python 3.12 or later does"
        raise BadInput(f"--art-python {python} is not usable ({why}): {_INSTALL}.") from None


def _environment(backend: str) -> dict[str, str]:
    """The child's environment: what ART reads, and the key of its service only if that does the training.

    With a key of Weights & Biases the local backend would send its metrics there.
    """
    own = r"ART_\w+|UNSLOTH_\w+|IMPORT_UNSLOTH|LITELLM_\w+"
    # Otherwise ART's litellm fetches a price list from the network at every start.
    offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return {**offline, **inherited(rf"{own}|WANDB_\w+" if backend == "serverless" else own)}


def differences(recipe: Recipe) -> list[str]:
    """How ART differs from the recipe, in sentences for the run's output."""
    if recipe.weighting == "episode":
        lines = ["ART: each token weighs 1/(its episode's sampled tokens); rewards are handed over as they are."]
    else:
        lines = [
            "ART: each token would weigh 1/(its episode's sampled tokens); rewards are handed over times that number, "
            "so that tokens weigh alike as in the recipe."
        ]
    lines.append(
        "ART: every step's weights are divided by their mean; the local backend takes the mean over each turn's "
        f"tokens, an optimizer step every {recipe.art_accumulate} turns, 8-bit Adam and a weight decay of 0.1."
    )
    unused = {
        "entropy": recipe.entropy != 0,
        "diversity": recipe.diversity > 0,
        "pairs": recipe.pairs > 0,
        "updates": recipe.updates > 1,
        "anchor": recipe.anchor > 0 and recipe.weighting == "episode",
    }
    if some := [key for key, used in unused.items() if used]:
        lines.append(f"ART: no use is made of {', '.join(some)}.")
    return lines


class Art:
    """A training child process.

    Attributes:
        url: The URL at which the backend serves the model, up to `/v1`; empty if it does not.
    """

    def __init__(
        self,
        recipe: Recipe,
        base: str,
        folder: Path,
        policy: Policy,
        tokenizer: PreTrainedTokenizerBase,
        *,
        step: int = 0,
        restarts: int = 0,
    ) -> None:
        """Starts the child from the adapters of a policy; its folder is emptied.

        Args:
            recipe: The recipe.
            base: The base model, as ART loads it.
            folder: The exchange folder.
            policy: The policy being trained, whose adapters are updated with the results.
            tokenizer: Its tokenizer.
            step: The step after which the adapters were taken.
            restarts: The number of restarts; to a remote backend, each one is another model.

        Raises:
            BadInput: ART cannot start; the message quotes it.
        """
        self.recipe, self.folder, self.policy = recipe, folder, policy
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        save(folder / "start", policy.model, tokenizer, recipe, step)
        setup = Setup(
            backend=recipe.art_backend,
            run=f"{_name(folder.parent, recipe)}-{restarts}",
            base_model=base,
            rank=recipe.lora_rank,
            alpha=recipe.lora_alpha,
            accumulate=recipe.art_accumulate,
            clip=recipe.clip,
        )
        write(folder / "setup.json", json.dumps(setup, indent=2) + "\n")
        self.log = folder / "art.log"
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [str(recipe.art_python), "-P", art_child.__file__, str(folder.resolve())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=_environment(recipe.art_backend),
            )
        try:
            self.url = str(self._answer("ready")["url"])
        except BaseException:
            self.close()
            raise

    def update(self, step: int, groups: Sequence[Group], rate: float) -> MetricsRow:
        """Trains on a step's groups and loads the resulting adapter.

        Args:
            step: The number of the step.
            groups: Its groups, at least one of them with spread.
            rate: The optimizer's rate.

        Returns:
            `gradient`, its norm as reported by ART, and `entropy`, estimated from the replies.

        Raises:
            BadInput: ART stopped, or its result is not valid.
        """
        name = f"step-{step:04d}"
        policy = self.policy
        made = step_of(groups, self.recipe, rate, lambda ids: policy.prompts.reply(ids, policy.stops))
        write(self.folder / f"{name}.json", json.dumps(made, allow_nan=False))
        if self.process.stdin is None or self.process.poll() is not None:
            raise self._stopped()
        try:
            self.process.stdin.write(f"{name}\n")
            self.process.stdin.flush()
        except OSError:
            raise self._stopped() from None
        self._answer("trained")
        told = json.loads((self.folder / name / "trained.json").read_text(encoding="utf-8"))
        gradient = float(told["metrics"].get("loss/grad_norm", 0.0))
        if not isfinite(gradient):
            raise BadInput(f"OpenPipe ART reported a gradient of {gradient} in step {step}; lower the rate.")
        take_up(policy.model, self.folder / name)
        (self.folder / f"{name}.json").unlink()
        shutil.rmtree(self.folder / name)
        # ART reports the mean entropy per token; that per reply is estimated from the replies themselves.
        spread = fmean(-sum(turn.reply.logps) for group in groups for ep in group.episodes for turn in ep.turns)
        return {"gradient": gradient, "entropy": spread}

    def close(self) -> None:
        """Ends the child, which closes its backend first."""
        if self.process.stdin is not None:
            # A child that has ended does not read the rest.
            with suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _answer(self, wanted: str) -> Mapping[str, object]:
        """Waits for the child's next answer."""
        line = self.process.stdout.readline() if self.process.stdout is not None else ""
        told: dict[str, object] = json.loads(line) if line.strip() else {}
        if "error" in told:
            raise BadInput(f"OpenPipe ART stopped: {' '.join(str(told['error']).split())[:500]} (more in {self.log})")
        if told.get("answer") != wanted:
            raise self._stopped()
        return told

    def _stopped(self) -> BadInput:
        said = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["nothing"]
        last = said[-1][:300]
        return BadInput(f"OpenPipe ART stopped without an answer; the last that it printed: {last} (in {self.log})")


class ArtLearner:
    """Learns by OpenPipe ART, which keeps its own optimizer and takes the group mean as its baseline.

    Attributes:
        child: The child process; None before the run begins.
    """

    def __init__(
        self,
        recipe: Recipe,
        base: str,
        folder: Path,
        policy: Policy,
        tokenizer: PreTrainedTokenizerBase,
        tell: Callable[[str], None],
    ) -> None:
        """Takes the arguments of `Art`, and the receiver of notes on how ART differs from the recipe."""
        self.recipe, self.policy = recipe, policy
        self.child: Art | None = None
        self._base, self._folder, self._tokenizer, self._tell = base, folder, tokenizer, tell

    @property
    def url(self) -> str:
        """The URL at which ART's backend serves the model, if it is on this machine."""
        return "" if self.child is None or self.recipe.art_backend == "serverless" else self.child.url

    def begin(self, step: int, restarts: int) -> None:
        """Starts ART from the current adapters, replacing a running one."""
        first = self.child is None
        self.close()
        self.child = Art(
            self.recipe, self._base, self._folder, self.policy, self._tokenizer, step=step, restarts=restarts
        )
        if first:
            for line in differences(self.recipe):
                self._tell(line)

    def learn(self, lesson: Lesson) -> MetricsRow:
        """Lets ART take a step, unless all groups are without spread."""
        dead = [group.dead for group in lesson.groups]
        row: MetricsRow = {"gradient": 0.0, "entropy": 0.0}
        if self.child is not None and not all(dead):
            row = self.child.update(lesson.step, lesson.groups, lesson.rate)
        return {
            "dead_groups": fmean(dead),
            "pairs": len(pairs(lesson.groups)),
            **row,
            "entropy_coefficient": 0.0,
        }

    def state(self) -> LearnerState:
        """ART has fresh moments after every start, so nothing is saved."""
        return LearnerState(optimizer={}, credit={})

    def load_state(self, state: LearnerState) -> None:
        """Nothing was saved."""

    def forget(self) -> None:
        """`begin` starts ART anew."""

    def close(self) -> None:
        """Ends the child process, if there is one."""
        if self.child is not None:
            self.child.close()


def _name(run: Path, recipe: Recipe) -> str:
    """A unique name, kept in the run directory, under which a remote backend continues the model."""
    file = run / "art-name"
    if not file.is_file():
        write(file, f"{recipe.name}-{recipe.seed}-{uuid4().hex[:8]}")
    return file.read_text(encoding="utf-8")


def take_up(model: PreTrainedModel, folder: Path) -> None:
    """Puts the adapter weights of a folder into a model with adapters of the same shape.

    Raises:
        BadInput: They do not fit this model's adapters.
    """
    weights = load_file(folder / art_child.ADAPTER[0])
    ours = {name: p for name, p in model.named_parameters() if p.requires_grad}
    theirs = {name.replace(".weight", ".default.weight"): tensor for name, tensor in weights.items()}
    if {name: p.shape for name, p in ours.items()} != {name: t.shape for name, t in theirs.items()}:
        odd = sorted(ours.keys() ^ theirs.keys()) or [n for n in ours if ours[n].shape != theirs[n].shape]
        raise BadInput(
            f"The adapter returned in {folder} does not fit the model's ({odd[0]} differs); "
            "ART must train the modules and the rank of the run."
        )
    if odd := [name for name, tensor in weights.items() if not tensor.isfinite().all()]:
        raise BadInput(f"The adapter returned in {folder} holds numbers that are not finite ({odd[0]}).")
    set_peft_model_state_dict(model, weights)
