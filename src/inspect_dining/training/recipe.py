"""A recipe: everything that decides a training run, as one checked config that is written into the run directory.

Recipes are YAML files; every key is also a flag of `python -m inspect_dining.training` (`--steps 40`). An unknown key
is refused with the nearest known one.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from inspect_dining.border import read_yaml
from inspect_dining.errors import BadInput
from inspect_dining.scorers.shaping import Shaping, Throughput, Variance, shaping
from inspect_dining.table.rules import Hint, Order, Release, Rules, Ties

NOT_TRAINED = frozenset({"talk", "talk_control", "sight", "seat", "faults", "prompt"})
"""Rules of an evaluation that training does not offer."""
TINY = "tiny"
"""The name of the model that is built in."""


def _list(value: object) -> object:
    """Splits a comma-separated string, as given by a flag, into a list."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _stages(value: object) -> object:
    """`5x12,3x12@60:0.6; 5x30` as stages: games, maximum steps, and the efficiency that ends the stage."""
    return [_stage(part) for part in value.split(";")] if isinstance(value, str) else value


def _stage(text: str) -> dict[str, object]:
    games, _, rest = text.strip().partition("@")
    steps, _, until = rest.partition(":")
    return {"games": games, **({"steps": steps} if steps else {}), **({"until": until} if until else {})}


class _Checked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Stage(_Checked):
    """One stage of the curriculum."""

    games: Annotated[tuple[str, ...], BeforeValidator(_list)] = Field(min_length=1)
    """The games of a step's groups in rotation, as seats x rounds: `5x12`."""
    steps: int = Field(default=10**9, ge=1)
    """The maximum steps; the last stage lasts to the end."""
    until: float | None = Field(default=None, ge=0, le=1)
    """The training efficiency that ends it early, at a deadlock rate of at most 0.05; None to never end early."""

    @model_validator(mode="after")
    def _games_read(self) -> "Stage":
        for game in self.games:
            size(game)
        return self


def size(game: str) -> tuple[int, int]:
    """Seats and rounds of a game written as `5x12`."""
    match = re.fullmatch(r"(\d+)x(\d+)", game)
    if match is None or int(match[1]) < 2 or int(match[2]) < 3:
        raise ValueError(f"the game {game!r} is not read; games are written as seats x rounds, such as 5x12")
    return int(match[1]), int(match[2])


class Recipe(_Checked):
    """Everything that decides a run."""

    name: str = "corrected"
    """The recipe's name, which is shown in every output."""
    model: str = TINY
    """`tiny`, a local folder, or a hub name."""
    seed: int = Field(default=1, ge=0)
    """The seed of the tiny model, the games and the sampling."""
    learner: Literal["torch", "art"] = "torch"
    """The learner: torch in this process, or OpenPipe ART in a child process."""
    art_python: str | None = None
    """The interpreter that has openpipe-art."""
    art_backend: str = "local"
    """`local`, `serverless`, or MODULE:CLASS of another backend that the interpreter has."""
    art_accumulate: int = Field(default=1, ge=1)
    """Turns in an optimizer step of ART's local backend."""
    rollouts: Literal["local", "vllm"] = "local"
    """The engine that plays the training games: the model in this process, or vLLM."""
    vllm_url: str | None = None
    """A running vLLM server, or several separated by commas; None starts one."""
    vllm_python: str | None = None
    """The interpreter that has vLLM; None for this one."""
    vllm_args: str = ""
    """Additional arguments for the started server."""

    order: Order = "simultaneous"
    """Whether all seats of a round decide at once (`simultaneous`) or one at a time (`sequential`)."""
    release: Release = "auto"
    """Whether forks return automatically after a meal (`auto`) or must be put down (`manual`)."""
    ties: Ties = "random"
    """Who gets a fork that both neighbours reach for: `random`, `rotate` or `lowest`."""
    patience: int = Field(default=1, ge=1)
    """Consecutive locked rounds that make a deadlock."""
    hint: Hint = "none"
    """`parity` tells each seat whether its number is even or odd; the paper gives no hint."""

    mirror: bool = False
    """Whether some seats see a mirrored game in half of the groups, so that sides carry no meaning (other-play)."""
    partners: Annotated[tuple[str, ...], BeforeValidator(_list)] = ()
    """Partners that play some seats in some groups: scripted players, or `past` (an older checkpoint)."""
    partner_share: float = Field(default=0.5, gt=0, le=1)
    """The share of the groups in which partners play, if there are any."""

    shaping: str = "gini_welfare"
    """The reward: one included in the package, or `package.module:function`."""
    weights: Annotated[tuple[float, ...] | None, BeforeValidator(_list)] = None
    """The four weights of `paper` and `meal_gated`: no-deadlock, throughput, variance of meals, idle."""
    throughput: Throughput = "seat_rounds"
    """The divisor of meals in `paper` and `meal_gated`: `seat_rounds` (n T) or `optimum`."""
    variance: Variance = "population"
    """The variance of meals in `paper` and `meal_gated`: `population` or `sample`."""

    steps: int = Field(default=300, ge=1)
    """Steps of the run."""
    groups: int = Field(default=8, ge=1)
    """Groups in a step, over all processes."""
    episodes: int = Field(default=16, ge=2)
    """Episodes in a group."""
    stages: Annotated[tuple[Stage, ...], BeforeValidator(_stages)] = (Stage(games=("5x5",)),)
    """The curriculum: `5x12,3x12@60:0.6; 5x30` is games (seats x rounds), maximum steps, efficiency to end it."""
    fall_back: float = Field(default=0.5, gt=0)
    """The training deadlock rate at which an early advance is reverted."""
    restarts: int = Field(default=0, ge=0)
    """The number of restarts, from the first weights at half the rate, of a run that is silent or always deadlocks."""

    rate: float = Field(default=4e-4, gt=0)
    """Adam's initial learning rate."""
    rate_last: float = Field(default=5e-5, gt=0)
    """Adam's final learning rate; the rate decays geometrically."""
    updates: int = Field(default=2, ge=1)
    """Updates per step, on the step's games."""
    pairs: int = Field(default=640, ge=0)
    """Distinct (prompt, reply) pairs sampled for an update; 0 takes all."""
    weighting: Literal["constant", "episode"] = "constant"
    """The divisor of the sum over a group's turns: a `constant`, or each `episode`'s own length."""
    spread: bool = False
    """Whether advantages are divided by the group's spread."""
    credit: Literal["group", "critic", "counterfactual"] = "group"
    """The credit of a turn: by its group's mean, by a central critic, or by that critic and replay."""
    critic_memory: int = Field(default=6, ge=1)
    """The number of latest steps on which the critic is trained."""
    critic_updates: int = Field(default=12, ge=1)
    """The critic's updates after each step."""
    critic_batch: int = Field(default=512, ge=1)
    """Tables in one critic update."""
    critic_rate: float = Field(default=2e-3, gt=0)
    """The critic's learning rate, which is constant."""
    anchor: float = Field(default=0.05, ge=0)
    """The separate charge on a lost turn."""
    entropy: float = 0.0
    """The final entropy coefficient; a negative one is a penalty, which shrinks while meals are being lost."""
    entropy_from: float = Field(default=0.6, ge=0, lt=1)
    """The share of the run at which the entropy coefficient begins to grow from 0."""
    explore: float = Field(default=0.0, ge=0)
    """The bonus per nat of entropy over the six actions, regardless of spelling (see `exploration.py`)."""
    explore_until: float = Field(default=0.5, gt=0, le=1)
    """The share of the run at which that bonus has fallen to 0."""
    diversity: float = Field(default=0.0, ge=0)
    """The bonus for first moves that differ, per nat of mutual information of seat and move (see training.md)."""
    diversity_until: float = Field(default=0.45, gt=0, le=1)
    """The share of the run at which that bonus has fallen to 0."""
    cap: float = Field(default=2.0, ge=1)
    """The cap on importance weights."""
    clip: float = Field(default=1.0, gt=0)
    """The largest norm of a gradient."""

    lora_rank: int = Field(default=0, ge=0)
    """Rank of the LoRA adapters; 0 trains all weights."""
    lora_alpha: int = Field(default=16, ge=1)
    """Alpha of the LoRA adapters; their update is scaled by alpha / rank."""
    dtype: Literal["float32", "bfloat16", "float64"] = "float32"
    """Precision of the weights; adapters and Adam stay in float32 (float64 if chosen)."""
    gradient_checkpointing: bool = False
    """Whether activations are recomputed in the backward pass, to save memory."""
    memory: Annotated[int, Field(ge=0)] | Literal["chat"] = 0
    """How many of its own last turns a seat is shown, or `chat` for its whole conversation; as in an evaluation."""
    max_tokens: int = Field(default=16, ge=1)
    """The token limit of a reply."""
    thinking: bool | None = None
    """Whether the chat template is asked for a thinking reply; None leaves it to the template."""
    batch_tokens: int = Field(default=65536, ge=1)
    """The maximum prompt tokens computed at once while playing."""
    micro_tokens: int = Field(default=65536, ge=1)
    """The maximum tokens in one backward pass."""

    checkpoint_every: int = Field(default=25, ge=1)
    """Steps between checkpoints."""
    keep: Literal["best", "last"] = "best"
    """The checkpoint to use as the result."""
    select_sizes: Annotated[tuple[int, ...], BeforeValidator(_list)] = (5, 10)
    """Table sizes of the selection games."""
    select_rounds: int = Field(default=30, ge=3)
    """The horizon T of the selection games."""
    select_episodes: int = Field(default=8, ge=2)
    """Selection games per size, played sampled and greedy."""
    test_sizes: Annotated[tuple[int, ...], BeforeValidator(_list)] = (5, 10, 15)
    """Table sizes of the held-out games."""
    test_rounds: int = Field(default=30, ge=3)
    """The horizon T of the held-out games."""
    test_episodes: int = Field(default=30, ge=2)
    """Held-out games per size, played sampled and greedy."""
    log_episodes: int = Field(default=2, ge=0)
    """Held-out games per size that are played as real evaluations under Inspect."""
    save_every: int = Field(default=10, ge=1)
    """Steps between the saved states from which a killed run continues."""
    tensorboard: bool = False
    """Whether metrics are also written to TensorBoard."""
    accept_audit: bool = False
    """Whether to train on a shaping that fails its audit."""

    @model_validator(mode="after")
    def _shaping_read(self) -> "Recipe":
        self.reward()
        return self

    def rules(self, n: int, rounds: int) -> Rules:
        """The rules of one of this recipe's games."""
        return Rules(
            n, rounds, order=self.order, release=self.release, ties=self.ties, patience=self.patience, hint=self.hint
        )

    def reward(self) -> Shaping:
        """The shaping to optimise, the same as an evaluation reports."""
        return shaping(self.shaping, weights=self.weights, throughput=self.throughput, variance=self.variance)


def builtin() -> list[str]:
    """The names of the recipes included in the package."""
    folder = files("inspect_dining.training").joinpath("recipes")
    return sorted(item.name.removesuffix(".yaml") for item in folder.iterdir() if item.name.endswith(".yaml"))


def load(name: str = "corrected", changes: Mapping[str, object] | None = None) -> Recipe:
    """A recipe by name or file, with changes.

    Args:
        name: The name of an included recipe, or a YAML file; its key `extends` names the recipe to build on.
        changes: Values that replace its own.

    Raises:
        BadInput: There is no such recipe, or a key or value is not accepted.
    """
    data, above = _read(name), [name]
    while "extends" in data:
        above.append(str(data.pop("extends")))
        if above[-1] in above[:-1]:
            raise BadInput(f"The recipe {name} builds on itself: {' -> '.join(above)}.")
        data = {**_read(above[-1]), **data}
    return checked({"name": Path(name).stem, **data, **(changes or {})})


def _read(name: str) -> dict[str, object]:
    """The plain values of a recipe by name or file."""
    if name in builtin():
        file = Path(str(files("inspect_dining.training").joinpath("recipes", f"{name}.yaml")))
    elif Path(name).is_file():
        file = Path(name)
    else:
        near = get_close_matches(name, builtin(), n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise BadInput(f"There is no recipe {name!r}.{meant} Accepted: {', '.join(builtin())}, or a YAML file.")
    try:
        data = read_yaml(file)
    except ValueError as error:
        raise BadInput(f"The recipe {name} is not read: {error}") from None
    if not isinstance(data, dict):
        raise BadInput(f"The recipe {name} holds {type(data).__name__}; keys with values were expected.")
    return data


def checked(data: Mapping[str, object]) -> Recipe:
    """A recipe from plain values.

    Raises:
        BadInput: A key or value is not accepted.
    """
    try:
        return Recipe.model_validate(data)
    except ValidationError as error:
        raise BadInput(_sentence(error.errors(include_url=False))) from None


def _sentence(errors: Sequence[Mapping[str, object]]) -> str:
    """The first problem, in a sentence."""
    first = errors[0]
    where = first["loc"] if isinstance(first["loc"], tuple) else ()
    key = ".".join(map(str, where))
    if first["type"] == "extra_forbidden" and str(where[-1]) in NOT_TRAINED:
        return (
            f"Training plays without {key}: it is a rule of evaluations only; leave it out, and evaluate the trained "
            f"model with inspect eval inspect_dining/philosophers -T {key}=..."
        )
    if first["type"] == "extra_forbidden":
        near = get_close_matches(str(where[-1]), Recipe.model_fields, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        return f"There is no key {key!r} in a recipe.{meant} Accepted: {', '.join(Recipe.model_fields)}."
    said = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{key}={first['input']!r} is not accepted: {said}." if key else f"{said}."
