"""From the header of a log to its run: the players, the planned games, the rules and the reward."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from inspect_dining.analysis.inputs.episodes import Episode, Player, Run
from inspect_dining.analysis.inputs.sent import Sent, sent_in, shown, told
from inspect_dining.border import MOST_SEATS, check_size, plain, public
from inspect_dining.table.rules import NAMES, Rules

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

_GAMES = {"n", "episodes", "seed", "players"}
"""Task arguments that select the games."""
_REWARD = {"shaping", "weights", "throughput", "variance"}
"""Task arguments that define the reward."""
_RULES = {"rounds", *NAMES}
"""Task arguments that are part of the record's rules."""
_CONNECTION = {"host", "port", "base_url", "api_key", "timeout", "device", "seed"}
"""Model arguments that give a model's location or random draw, not its identity."""
_MOST_EPOCHS = 1_000
DEFAULT_PROMPT = "default"
_STRATEGY = re.compile(r"[a-z_]{1,40}")
"""The form of strategy names; file names have a dot or other characters."""


def read_run(log: "EvalLog", place: str, sample: "EvalSample | None" = None) -> Run:
    """The run of a log: the plan from its header, and the settings sent from a sample's events.

    Args:
        log: The log, possibly without its samples.
        place: The location of the log.
        sample: One of its samples with its model events; without one, only the header is used.
    """
    about, arguments = log.eval, log.eval.task_args
    epochs = min(about.config.epochs or 1, _MOST_EPOCHS)
    sizes: dict[int, int] = {}
    for name in about.dataset.sample_ids or []:
        size = size_of(str(name))
        if size is not None:
            sizes[size] = sizes.get(size, 0) + epochs
    metadata = about.metadata or {}
    hashes = metadata.get("prompt", "unknown")
    prompt = plain(str(arguments.get("prompt") or DEFAULT_PROMPT).rsplit("/", 1)[-1])
    others = {
        k: v
        for k, v in sorted(arguments.items())
        if k not in _GAMES | _REWARD | _RULES | {"philosopher", "prompt"} and (k, v) != ("failures", "error")
    }
    setup = {
        **{plain(k): public(k, v) for k, v in others.items()},
        "prompt": _name_prompt(prompt, hashes),
        "version": plain(about.task_version),
    }
    if about.solver is not None:
        setup["solver"] = plain(f"{about.solver} {public('', about.solver_args_passed or '')}".strip())
    sent = _sent_by_model(log, sample)
    own = sent.get("")
    settings = _model_args(about.model_args, own)
    settings |= told(log.plan.config.merge(about.model_generate_config)) if own is None else own.settings
    if arguments.get("philosopher"):
        settings["philosopher"] = plain(arguments["philosopher"])
    return Run(
        log=plain(place, None),
        player=_player(log, settings, sent),
        models={**dict(_roles(log, sent)), "": _with_settings(plain(about.model), settings)},
        setup=tuple(setup.items()),
        rewarding=_rewarding(log),
        sizes=sizes,
        rules=_rules(log, sizes),
        finished=log.status != "started",
        task_id=about.task_id,
        created=plain(about.created),
        prompt=prompt,
        words=next((one.words for one in sent.values()), ""),
    )


def _name_prompt(name: str, hashes: object) -> str:
    """The identity of a prompt across runs: its hash, preceded by the name of its strategy.

    A file's name is left out, since another file may hold the same prompt.
    """
    told = plain(", ".join(sorted(set(map(str, hashes)))) if isinstance(hashes, list) else hashes)
    return f"{name} {told}" if name != DEFAULT_PROMPT and _STRATEGY.fullmatch(name) else told


def add_unplanned(run: Run, log: "EvalLog", found: Sequence[Episode]) -> Run:
    """A run whose plan includes the games that its log does not name: all of them, if the ids do not state a size.

    This ensures for every log and size that planned = scored + cut + errored + not played (see `episodes.Account`).
    """
    epochs = min(log.eval.config.epochs or 1, _MOST_EPOCHS)
    named = {plain(name) for name in log.eval.dataset.sample_ids or [] if size_of(str(name)) is not None}
    more = Counter(e.n for e in found if e.sample not in named or e.epoch > epochs)
    sizes = {n: run.sizes.get(n, 0) + more[n] for n in sorted({*run.sizes, *more})}
    return replace(run, sizes=sizes)


def _sent_by_model(log: "EvalLog", sample: "EvalSample | None") -> dict[str, Sent]:
    """What was sent to the model of each role; the empty name is the run's model."""
    found: dict[str, Sent] = {}
    if sample is None:
        return found
    seating = sample.metadata.get("seating")
    for seat, sent in sorted(sent_in(sample).items()):
        number = int(seat.removeprefix("seat_"))
        name = str(seating[number]) if isinstance(seating, list) and number < len(seating) else seat
        found.setdefault(name if name in (log.eval.model_roles or {}) else "", sent)
    return found


def _model_args(args: Mapping[str, object], sent: Sent | None) -> dict[str, str]:
    """Arguments of a model that identify it: the hash of its weights, if known, instead of their location."""
    known = sent is not None and bool(sent.weights)
    found = {plain(k): shown(k, v) for k, v in args.items() if k not in _CONNECTION and not (known and k == "path")}
    return {**found, "weights": sent.weights} if sent is not None and known else found


def _player(log: "EvalLog", settings: Mapping[str, str], sent: Mapping[str, Sent]) -> Player:
    """The player that a run evaluates; a mixed table is one player, named after all who share it."""
    roles, names = dict(_roles(log, sent)), log.eval.task_args.get("players")
    if not names:
        return Player(plain(log.eval.model), tuple(roles.items()), tuple(settings.items()))
    shared = names.split(",") if isinstance(names, str) else map(str, names)
    usual = _with_settings(plain(log.eval.model), settings)
    return Player(" & ".join(sorted({roles.get(name.strip(), usual) for name in shared})))


def _with_settings(model: str, settings: Mapping[str, str]) -> str:
    listed = ", ".join(f"{name}={value}" for name, value in settings.items())
    return f"{model} ({listed})" if listed else model


def _rewarding(log: "EvalLog") -> dict[str, object]:
    """The arguments of the scorer `reward`, whichever source named it, else those of the task."""
    given = [one.options or {} for one in log.eval.scorers or [] if one.name.rsplit("/", 1)[-1] == "reward"]
    named = given[-1] if given else log.eval.task_args
    return {name: value for name, value in named.items() if name in _REWARD}


def _roles(log: "EvalLog", sent: Mapping[str, Sent]) -> Iterator[tuple[str, str]]:
    for role, bound in sorted((log.eval.model_roles or {}).items()):
        for config in bound if isinstance(bound, list) else [bound]:
            own = sent.get(role)
            settings = {**_model_args(config.args, own), **(told(config.config) if own is None else own.settings)}
            yield plain(role), _with_settings(plain(config.model), settings)


def _rules(log: "EvalLog", sizes: Iterable[int]) -> dict[int, Rules]:
    """The rules of each size, for games that left no record; none if the task's arguments are not ours."""
    options = {name: value for name, value in log.eval.task_args.items() if name in _RULES and value is not None}
    if isinstance(options.get("faults"), list):
        options["faults"] = ",".join(map(str, options["faults"]))
    try:
        check_size(None, options.get("rounds"))
        return {n: Rules(n, **options) for n in sizes}
    except (ValueError, TypeError):
        return {}


def size_of(sample: str) -> int | None:
    """The number of seats that a sample id states; None if it states no valid number."""
    match = re.match(r"n(\d{1,9})-", sample)
    return int(match[1]) if match and 2 <= int(match[1]) <= MOST_SEATS else None
