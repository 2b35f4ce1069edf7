"""The other side of `--learner art`: trains with OpenPipe ART in ART's own interpreter, and imports nothing but ART.

    python -P openpipe_child.py            prints a line of JSON on what is installed here
    python -P openpipe_child.py FOLDER     trains as directed by lines of its input, until the input ends

FOLDER holds `setup.json` and `start/`, the initial adapter. For every line of input, the name of a step, the groups in
`STEP.json` are trained; the result is the folder `STEP`, an adapter with `trained.json`, written whole or not at all.
Every line of output is a JSON object whose `answer` is `ready` or `trained`, or that has an `error`. ART's own output
goes to the error stream.
"""

import asyncio
import importlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, final

if TYPE_CHECKING:
    import art
    from art.trajectories import LegacyHistory
    from art.types import Choice

ADAPTER = ("adapter_model.safetensors", "adapter_config.json")
ROW = 256
"""Rows are padded to a multiple of this many tokens."""


class Setup(TypedDict):
    """The setup of a child (`setup.json`)."""

    backend: str
    """`local`, `serverless`, or MODULE:CLASS."""
    run: str
    """The name under which ART keeps the model."""
    base_model: str
    """A folder or a hub name."""
    rank: int
    """Rank of the adapters."""
    alpha: int
    """Alpha of the adapters."""
    accumulate: int
    """Turns in an optimizer step of the local backend."""
    clip: float
    """The largest norm of a gradient in the local backend."""


@final
class Message(TypedDict):
    """A prompt that a seat read."""

    role: str
    content: str


@final
class Turn(TypedDict):
    """A reply of a seat, as it was sampled."""

    prompt: int
    """The index of its prompt's ids among the step's prompts."""
    ids: Sequence[int]
    logps: Sequence[float]
    text: str
    ended: bool
    """Whether a stop token ended it; otherwise the limit of tokens cut it."""


class Trajectory(TypedDict):
    """One trajectory with the conversation of every seat."""

    reward: float
    metrics: dict[str, float]
    metadata: dict[str, str]
    histories: list[list[Message | Turn]]


class Step(TypedDict):
    """The training data of one step (`STEP.json`)."""

    rate: float
    """The optimizer's."""
    cap: float
    """The cap on importance weights."""
    scale_rewards: bool
    """Whether ART divides by the spread of a group's rewards."""
    prompts: list[Sequence[int]]
    """The ids of every prompt, each once."""
    tools: Sequence[Mapping[str, object]]
    """The tools' JSON schemas."""
    groups: list[list[Trajectory]]


def installed() -> dict[str, str | None]:
    """The versions of Python and of ART here; None if ART is missing."""
    try:
        found = version("openpipe-art")
    except PackageNotFoundError:
        found = None
    return {"python": platform.python_version(), "art": found}


def backend_of(setup: Setup, folder: Path) -> "art.Backend":
    """The requested backend: `local`, `serverless`, or MODULE:CLASS created like the local one."""
    name = setup["backend"]
    if name == "serverless":
        import art

        return art.ServerlessBackend()
    module, _, kind = ("art.local.backend:LocalBackend" if name == "local" else name).partition(":")
    return getattr(importlib.import_module(module), kind)(path=str(folder / "art"))


def model_of(setup: Setup, folder: Path) -> "art.TrainableModel":
    """ART's model under training; a backend on this machine finds the initial adapter as step 0."""
    import art
    from art.utils.output_dirs import get_model_dir, get_step_checkpoint_dir

    local = setup["backend"] != "serverless"
    config = {
        # Rollouts come from the model in full precision, so training is in full precision too.
        "init_args": {"load_in_4bit": False},
        "trainer_args": {"gradient_accumulation_steps": setup["accumulate"], "max_grad_norm": setup["clip"]},
    }
    model = art.TrainableModel(
        name=setup["run"],
        run_name=setup["run"],
        project="inspect-dining",
        base_model=setup["base_model"],
        base_path=str(folder / "art"),
        lora_config={"rank": setup["rank"], "alpha": setup["alpha"]},
        report_metrics=[],
        _internal_config=config if local else None,
    )
    if local:
        first = get_step_checkpoint_dir(get_model_dir(model, str(folder / "art")), 0)
        shutil.copytree(folder / "start", first)
    return model


def groups_of(step: Step) -> "list[art.TrajectoryGroup]":
    """The groups of a step as ART's own types."""
    import art
    from art.trajectories import LegacyHistory

    def history(items: Sequence[Message | Turn]) -> "LegacyHistory":
        made = [choice(step["prompts"][item["prompt"]], item) if "prompt" in item else item for item in items]
        return LegacyHistory(messages_and_choices=made, tools=step["tools"])

    def trajectory(one: Trajectory) -> "art.Trajectory":
        first, *others = map(history, one["histories"])
        return art.Trajectory(
            messages_and_choices=first.messages_and_choices,
            tools=first.tools,
            additional_histories=others,
            reward=one["reward"],
            metrics=one["metrics"],
            metadata=one["metadata"],
        )

    return [art.TrajectoryGroup([trajectory(one) for one in group]) for group in step["groups"]]


def choice(prompt: Sequence[int], item: Turn) -> "Choice":
    """A turn in vLLM's response format with token ids and log-probabilities."""
    from art.types import Choice

    tokens: list[dict[str, object]] = [
        {"token": f"token_id:{i}", "logprob": logp, "top_logprobs": []}
        for i, logp in zip(item["ids"], item["logps"], strict=True)
    ]
    return Choice.model_validate({
        "index": 0,
        "finish_reason": "stop" if item["ended"] else "length",
        "message": {"role": "assistant", "content": item["text"]},
        "logprobs": {"content": tokens},
        "prompt_token_ids": prompt,
        "token_ids": item["ids"],
    })


def row_tokens(step: Step) -> int:
    """The length of a step's longest turn, rounded up to a whole row."""
    items = [item for group in step["groups"] for one in group for history in one["histories"] for item in history]
    longest = max(len(step["prompts"][item["prompt"]]) + len(item["ids"]) for item in items if "prompt" in item)
    return -(-longest // ROW) * ROW


async def train(backend: "art.Backend", model: "art.TrainableModel", folder: Path, name: str) -> None:
    """Trains the groups of one step, and saves the adapter in a folder named after the step."""
    step: Step = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    result = await backend.train(
        model,
        groups_of(step),
        learning_rate=step["rate"],
        loss_fn="cispo",
        scale_rewards=step["scale_rewards"],
        # The ratio of the learner's to the sampler's probability is clipped to 0 and the recipe's cap.
        epsilon=1.0,
        epsilon_high=step["cap"] - 1.0,
        packed_sequence_length=row_tokens(step),
        logprob_calculation_chunk_size=ROW,
    )
    here = getattr(result, "checkpoint_path", None)
    found = Path(here or await backend._experimental_pull_model_checkpoint(model, step=result.step))
    beside = folder / f".{name}.part"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    for file in ADAPTER:
        shutil.copyfile(found / file, beside / file)
    told = {"step": result.step, "metrics": {key: float(value) for key, value in result.metrics.items()}}
    (beside / "trained.json").write_text(json.dumps(told), encoding="utf-8")
    shutil.rmtree(folder / name, ignore_errors=True)
    beside.replace(folder / name)
    if here:
        # The run chooses and keeps checkpoints; here all but the newest are deleted.
        await model.delete_checkpoints()


async def serve(folder: Path, answer: Callable[[Mapping[str, object]], None]) -> None:
    """Trains step after step until the input ends."""
    setup: Setup = json.loads((folder / "setup.json").read_text(encoding="utf-8"))
    backend = backend_of(setup, folder)
    try:
        model = model_of(setup, folder)
        await model.register(backend)

        answer({"answer": "ready", "url": model.inference_base_url})
        while name := (await asyncio.to_thread(sys.stdin.readline)).strip():
            await train(backend, model, folder, name)
            answer({"answer": "trained"})
    finally:
        await backend.close()


def main() -> None:
    """Runs the child process."""
    if len(sys.argv) < 2:
        sys.stdout.write(json.dumps(installed()) + "\n")
        return
    # ART and its subprocesses may print anything; the answer stream must hold answers only.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(told: Mapping[str, object]) -> None:
        answers.write(json.dumps(told) + "\n")
        answers.flush()

    try:
        asyncio.run(serve(Path(sys.argv[1]), answer))
    except BaseException as error:
        answer({"error": f"{type(error).__name__}: {error}"})
        raise


if __name__ == "__main__":
    main()
