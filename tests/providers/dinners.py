"""Dinners whose philosophers are models behind Inspect's own provider classes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from inspect_ai import Task, eval
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import GenerateConfig, Model, get_model

from inspect_dining.solvers.seat import Memory
from inspect_dining.table import Player, Record, Rules, episode_seed, play, replay
from inspect_dining.table.record import RECORD
from inspect_dining.tasks import philosophers
from tests.providers.server import ModelServer

CHAT = "openai-api/loop/qwen"
"""The provider for any server that speaks chat completions; `loop` is only a name."""


class Options(TypedDict, total=False):
    """The options of an evaluation that the tests use."""

    epochs: int
    token_limit: int
    message_limit: int
    turn_limit: int
    time_limit: int
    working_limit: int
    cost_limit: float
    fail_on_error: bool | float
    continue_on_fail: bool
    retry_on_error: int
    score_on_error: bool
    max_samples: int
    max_retries: int
    attempt_timeout: int
    max_connections: int
    temperature: float
    top_p: float
    max_tokens: int
    parallel_tool_calls: bool
    cache: bool


class Settings(TypedDict, total=False):
    """What the SDK behind a provider takes."""

    max_retries: int
    client_timeout: float


def connect(
    server: ModelServer, provider: str = CHAT, config: GenerateConfig | None = None, **settings: Unpack[Settings]
) -> Model:
    """A model behind the server; each server has models of its own, since Inspect keeps one `vllm/` for each name."""
    name = f"{provider}-{server.server_port}" if provider.startswith("vllm/") else provider
    return get_model(name, base_url=server.url, api_key="none", config=config or GenerateConfig(), **settings)


def task(rules: Rules, episodes: int = 1, memory: Memory = 0) -> Task:
    """The task for games of these rules."""
    return philosophers(
        n=rules.n,
        rounds=rules.rounds,
        order=rules.order,
        release=rules.release,
        ties=rules.ties,
        patience=rules.patience,
        hint=rules.hint,
        episodes=episodes,
        memory=memory,
    )


def dine(
    model: Model,
    rules: Rules,
    folder: Path,
    *,
    episodes: int = 1,
    memory: Memory = 0,
    roles: Mapping[str, Model] | None = None,
    **options: Unpack[Options],
) -> EvalLog:
    """Evaluates, and reads the log back from disk, as everybody else will."""
    log = eval(
        task(rules, episodes, memory),
        model=model,
        model_roles=dict(roles or {}),
        log_dir=str(folder),
        display="none",
        log_realtime=False,
        **options,
    )[0]
    return read_eval_log(log.location)


def samples(log: EvalLog) -> list[EvalSample]:
    """The samples of a log in order of their ids and epochs."""
    return sorted(log.samples or [], key=lambda sample: (str(sample.id), sample.epoch))


def sample(log: EvalLog) -> EvalSample:
    """The one sample of a log."""
    (only,) = samples(log)
    return only


def record(of: EvalSample) -> Record:
    """A sample's record, which must replay."""
    found = Record.from_dict(of.store[RECORD])
    replay(found)
    return found


def undisturbed(of: EvalSample, rules: Rules, players: str | Player | Sequence[str | Player]) -> Record:
    """The record of the same game, played without any model."""
    return play(rules, players, episode_seed("test", str(of.id)))


def calls(of: EvalSample) -> list[ModelEvent]:
    """The model's events of a sample, in order."""
    return [event for event in of.events if isinstance(event, ModelEvent)]


def unscored(log: EvalLog) -> set[int | None]:
    """How many unscored samples the scores of a log count; all ten must agree."""
    assert log.results is not None
    return {score.unscored_samples for score in log.results.scores}
