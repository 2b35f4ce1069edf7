"""Servers that end with their test, and that must not have erred."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Protocol

import anyio
import pytest

from tests.providers.server import Gate, ModelServer, Player
from tests.providers.wires import ChatCompletions, Wire


class Serve(Protocol):
    """Starts a server."""

    def __call__(self, player: Player, wire: Wire | None = None, gate: Gate | None = None) -> ModelServer:
        """Starts one that speaks chat completions, unless told otherwise."""


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Starts servers. Inspect's back-off between retries passes at once, and it draws no picture of a traceback.

    A picture takes two seconds; the log keeps its text all the same.
    """

    async def at_once(seconds: float) -> None:
        await anyio.sleep(0.001)

    monkeypatch.setattr("inspect_ai.model._retry._sleep", at_once)
    monkeypatch.setattr("rich.traceback.Traceback.from_exception", lambda **_: "")
    errors: list[list[str]] = []
    with ExitStack() as running:

        def start(player: Player, wire: Wire | None = None, gate: Gate | None = None) -> ModelServer:
            server = running.enter_context(ModelServer(wire or ChatCompletions(), player, gate))
            errors.append(server.errors)
            return server

        yield start
    assert not any(errors), errors
