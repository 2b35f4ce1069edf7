"""A model server on the loopback interface, for players that we script and faults that we choose.

It speaks one of the wire formats, one thread a connection, on 127.0.0.1 alone. Each request is read, kept, and handed
to a player, who says something or answers with a fault; a gate can hold the answers of a round back. The server is as
strict as the strictest vendor: a conversation that one of them would refuse is refused, and fails its test.
"""

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler

from inspect_dining.table import Coin, scripted
from inspect_dining.table.players.strategies import seat_of
from tests.loopback import Loopback
from tests.providers.wires import Asked, Call, Json, Say, Wire

PATIENCE = 20.0
"""Seconds after which a gate that nobody opens fails its test, rather than hang it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A reply that is none, or no good one.

    Attributes:
        status: Its HTTP status.
        body: Its body.
        headers: Headers beside the usual ones.
        after: Seconds before it comes.
        cut: How many bytes of the whole are sent before the connection is cut, or None to send it all.
    """

    status: int = 200
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    after: float = 0.0
    cut: int | None = None


def refusal(status: int, message: str, code: str = "", kind: str = "invalid_request_error", **more: float) -> Fault:
    """An error as the vendors word it; what is in `more` becomes headers, such as `retry_after=1`."""
    error = {"message": message, "type": kind, "code": code or None, "param": None}
    headers = tuple((name.replace("_", "-"), str(value)) for name, value in more.items())
    return Fault(status, json.dumps({"type": "error", "error": error}), headers)


Player = Callable[[Asked], Say | Fault]
"""Who decides: takes a request and says something, or answers with a fault."""


def player(name: str) -> Player:
    """A scripted player without coins, which reads the observation in the request."""
    decide = scripted(name).decide

    def say(asked: Asked) -> Say:
        action = decide(asked.view, Coin("no coin is thrown"))
        return Say(text="I say nothing.") if action is None else Say((Call(action.value),))

    return say


class Failing:
    """A good player, but for some requests that get a fault instead."""

    def __init__(self, good: Player, faults: Mapping[tuple[int, int], Fault], times: range | None = None) -> None:
        """Takes the good player and who fails.

        Args:
            good: The player.
            faults: What goes wrong, by seat and round.
            times: Which of the requests of that seat and round it befalls, counted from 0; None for all of them.
        """
        self._good = good
        self._faults = faults
        self._times = times
        self._requests: Counter[tuple[int, int]] = Counter()

    def __call__(self, asked: Asked) -> Say | Fault:
        """Answers well or badly. A seat waits for its answer, so that no two threads count for the same one."""
        turn = (seat_of(asked.view), asked.view.round)
        time, self._requests[turn] = self._requests[turn], self._requests[turn] + 1
        if turn in self._faults and (self._times is None or time in self._times):
            return self._faults[turn]
        return self._good(asked)


class Gate:
    """Holds the answers of a simultaneous round back until every seat has asked, then lets them go in a given order."""

    def __init__(self, order: list[int]) -> None:
        """Takes the seats in the order in which they shall be answered, in every round."""
        self._places = {seat: place for place, seat in enumerate(order)}
        self._asked: Counter[int] = Counter()
        self._answered: Counter[int] = Counter()
        self._news = threading.Condition()

    @contextmanager
    def turn(self, asked: Asked) -> Iterator[None]:
        """Waits for a seat's turn to be answered; whoever answers it does so within."""
        number, place = asked.view.round, self._places[seat_of(asked.view)]
        with self._news:
            self._asked[number] += 1
            self._news.notify_all()
            everybody = self._news.wait_for(
                lambda: self._asked[number] == len(self._places) and self._answered[number] == place, PATIENCE
            )
            if not everybody:
                raise TimeoutError(
                    f"In round {number} {self._asked[number]} of {len(self._places)} seats asked, and "
                    f"{self._answered[number]} were answered."
                )
        yield
        time.sleep(0.003)  # lets the reply arrive before the next one is sent
        with self._news:
            self._answered[number] += 1
            self._news.notify_all()


class ModelServer(Loopback):
    """The server.

    Attributes:
        wire: The format that it speaks.
        player: Who decides.
        gate: What holds its answers back, if anything.
        asked: Every request so far, in order of arrival.
        times: When each of them arrived, in seconds of the monotonic clock.
        errors: What went wrong in the server itself; a test in which anything did has shown nothing.
    """

    def __init__(self, wire: Wire, player: Player, gate: Gate | None = None) -> None:
        """Listens on a free port of 127.0.0.1 and answers, in threads of its own."""
        self.wire = wire
        self.player = player
        self.gate = gate
        self.asked: list[Asked] = []
        self.times: list[float] = []
        self.errors: list[str] = []
        self._lock = threading.Lock()
        super().__init__(_Handler)

    @property
    def url(self) -> str:
        """The base URL for a provider of the server's format."""
        return super().url + self.wire.base

    def keep(self, asked: Asked) -> int:
        """Keeps a request, and gives its number, counted from 1."""
        with self._lock:
            self.asked.append(asked)
            self.times.append(time.monotonic())
            return len(self.asked)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is none of the server's business; anything else is kept."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError):
            self.errors.append(f"{type(error).__name__}: {error}")


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: ModelServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        server, wire = self.server, self.server.wire
        body: Json = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/count_tokens"):  # Inspect asks Anthropic for the length of a thought
            self._send(Fault(body=json.dumps({"input_tokens": 5})))
            return
        try:
            if self.path != wire.base + wire.path:
                raise ValueError(f"There is no {self.path}.")
            asked = wire.read(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            asked.check()
        except ValueError as error:
            server.errors.append(str(error))
            self._send(refusal(400, str(error)))
            return
        if not asked.tools:  # Inspect asks OpenAI's responses once whether the account may see reasoning
            self._send(Fault(body=wire.write(Say(text="hello, world"), 0, body["model"])))
            return
        number = server.keep(asked)
        said = server.player(asked)
        reply = Fault(body=wire.write(said, number, body["model"])) if isinstance(said, Say) else said
        with server.gate.turn(asked) if server.gate else nullcontext():
            self._send(reply)

    def do_GET(self) -> None:
        self._send(refusal(404, f"There is no {self.path}."))

    def _send(self, reply: Fault) -> None:
        time.sleep(reply.after)
        body = reply.body.encode()
        headers = {"content-type": "application/json", "content-length": str(len(body))} | dict(reply.headers)
        head = f"HTTP/1.1 {reply.status} Reply\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.wfile.write((head.encode() + b"\r\n" + body)[: reply.cut])
        self.close_connection = reply.cut is not None

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""
