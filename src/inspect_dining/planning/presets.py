"""The systems of the paper as presets: the Inspect name of each, how it is served, and what its tool calls need.

The data are in `models.yaml`, with a date and a source for every statement. Nothing here loads Inspect.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from importlib.resources import files
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from inspect_dining.errors import BadInput
from inspect_dining.planning.plan import Plan, Tokens, plan

SIZES, EPISODES, ROUNDS = (5, 10, 15), 30, 30
"""The sizes and the episodes of the paper, and the horizon of the task (the paper's is not known), used as defaults."""
WIDTH = 76
"""The width at which a command is folded; it can still be pasted."""


class _Checked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Statement(_Checked):
    """A statement and the key of its source."""

    text: str
    source: str


class Way(_Checked):
    """One way to run a system."""

    model: str
    """The model name in Inspect."""
    id_source: str
    """The source of this name."""
    check: str
    """What the name leaves open, since the paper gives no id."""
    tested: bool
    """Whether the tests play whole games with Inspect's class for it on a loopback server; never with the model."""
    install: str
    """The packages needed to call it."""
    key: str | None = None
    """The environment variable with the key, or None if there is none."""
    url: str | None = None
    """The base URL of your own server."""
    train: str | None = None
    """The arguments of the training that makes its adapter."""
    serve: tuple[str, ...] = ()
    """The flags of `vllm serve`."""
    serve_source: str | None = None
    """The source of these flags."""
    needs: Statement
    """What its tool calls need."""
    thinking_off: dict[str, dict[str, bool]] | None = None
    """The addition to the request's body that turns thinking off, or None if there is no such switch."""
    prompt_tokens: int | None = None
    """Input tokens of one call, or None if not measured."""
    prompt_source: str | None = None
    """How they were measured."""
    notes: tuple[Statement, ...] = ()
    """Other facts about it, upstream limits included."""

    def sources(self) -> Iterator[str]:
        """The keys of all its sources."""
        yield self.id_source
        yield from (source for source in (self.serve_source, self.prompt_source) if source)
        yield from (said.source for said in (self.needs, *self.notes))

    def served(self) -> list[str] | None:
        """The `vllm serve` command, on the loopback interface only, or None if nothing is served."""
        if self.url is None:
            return None
        weights = self.model.removeprefix("vllm/").partition(":")[0]
        port = self.url.rsplit(":", 1)[1].removesuffix("/v1")
        flags = [word for flag in self.serve for word in shlex.split(flag)]
        return ["vllm", "serve", weights, "--host", "127.0.0.1", "--port", port, *flags]

    def trained(self) -> list[str] | None:
        """The command that trains its adapter, or None if there is none to train."""
        return None if self.train is None else ["python", "-m", "inspect_dining.training", *shlex.split(self.train)]

    def evaluated(
        self,
        sizes: Sequence[int] = SIZES,
        episodes: int = EPISODES,
        rounds: int = ROUNDS,
        thinking: bool = True,
    ) -> list[str]:
        """The `inspect eval` command.

        Args:
            sizes: Table sizes n.
            episodes: Games per size.
            rounds: The horizon T.
            thinking: False turns thinking off, if there is a switch.
        """
        words = ["inspect", "eval", "inspect_dining/philosophers", "--model", self.model]
        if self.url:
            words += ["--model-base-url", self.url]
        if not thinking and self.thinking_off:
            words += ["--extra-body", json.dumps(self.thinking_off)]
        if tuple(sizes) != SIZES:
            words += ["-T", f"n={','.join(map(str, sizes))}"]
        if episodes != EPISODES:
            words += ["-T", f"episodes={episodes}"]
        if rounds != ROUNDS:
            words += ["-T", f"rounds={rounds}"]
        return words


class System(_Checked):
    """One system of the paper."""

    name: str
    """The paper's name for it."""
    table: Literal["main", "supplement"]
    """Whether it is one of the seven of the main table or one of the other three."""
    ways: tuple[Way, ...]
    """How to run it, the preferred way first."""


class Presets(_Checked):
    """All systems."""

    dated: date
    """The date of the last check."""
    reply_limit: int
    """The token limit of one reply, unless `--max-tokens` sets another."""
    sources: dict[str, str]
    """The sources by key."""
    shared: dict[str, object]
    """Used only for references within the file."""
    systems: tuple[System, ...]
    """The systems in the order of the paper."""

    def takes(self, way: Way, sizes: Sequence[int], episodes: int, rounds: int) -> Plan:
        """The maximum games, calls and tokens of a run."""
        source = self.sources[way.prompt_source] if way.prompt_source else "not measured"
        return plan(
            sizes,
            episodes,
            rounds,
            models=[way.model],
            tokens=Tokens(way.prompt_tokens, self.reply_limit, 0, 0, source),
        )


@lru_cache(maxsize=1)
def presets() -> Presets:
    """The presets included in the package."""
    text = files("inspect_dining.planning").joinpath("models.yaml").read_text(encoding="utf-8")
    return Presets.model_validate(yaml.safe_load(text))


def named(name: str) -> list[System]:
    """The systems whose name contains a text, ignoring case; all if it is empty.

    Raises:
        BadInput: There is no such system.
    """
    found = [system for system in presets().systems if name.casefold() in system.name.casefold()]
    if not found:
        known = ", ".join(system.name for system in presets().systems)
        raise BadInput(f"No system of the paper is called {name!r}; there are: {known}.")
    return found


def pasteable(words: Sequence[str]) -> str:
    """A command for a shell, folded before options so that each line is short and the whole can be pasted."""
    lines, line = [], ""
    for part in _parts(words):
        if line and len(line) + 1 + len(part) > WIDTH - 2:
            lines.append(line + " \\")
            line = "    " + part
        else:
            line = f"{line} {part}" if line else part
    return "\n".join([*lines, line])


def _parts(words: Sequence[str]) -> Iterator[str]:
    """The words quoted, each option together with its value."""
    part: list[str] = []
    for word in words:
        if word.startswith("-") and part:
            yield shlex.join(part)
            part = []
        part.append(word)
    yield shlex.join(part)
