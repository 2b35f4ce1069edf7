"""A server on the loopback interface that speaks as much of vLLM as training asks for, and answers with real weights.

It loads adapters by PEFT and samples by `Policy`, so that what comes back is right unless a test twists it.
"""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from peft import PeftModel

from inspect_dining.training.play import loading
from inspect_dining.training.play.policy import Policy
from inspect_dining.training.recipe import Recipe
from tests.loopback import Loopback

Json = dict[str, object]


class StandIn(Loopback):
    """The server.

    Attributes:
        asked: The paths and bodies of all requests.
        loaded: The adapters that answer now, by name.
        twist: Changes a good completion before it is sent; gives a status and a body.
        stale: Whether every adapter after the first is left unread, and the first answers for it.
    """

    def __init__(self, model: Path, *, stale: bool = False) -> None:
        """Serves a model on a free port of 127.0.0.1."""
        self.model, self.stale = model, stale
        self.asked: list[tuple[str, Json]] = []
        self.loaded: dict[str, Policy] = {}
        self.twist: Callable[[Json], tuple[int, object]] = lambda good: (200, good)
        self._first: Policy | None = None
        self._lock = threading.Lock()
        super().__init__(_Handler)

    def bodies(self, path: str) -> list[Json]:
        """The bodies of the requests to a path."""
        return [body for asked, body in self.asked if asked == path]

    def answer(self, path: str, body: Json) -> tuple[int, object]:
        """A status and a body."""
        with self._lock:
            self.asked.append((path, body))
            if path == "/v1/load_lora_adapter":
                return self._load(str(body["lora_name"]), str(body["lora_path"]))
            if path == "/v1/unload_lora_adapter":
                return (200, "Success") if self.loaded.pop(str(body["lora_name"]), None) else (404, "no such adapter")
            if path == "/v1/completions":
                if body["model"] not in self.loaded:
                    return 404, {"error": {"message": f"The model `{body['model']}` does not exist."}}
                return self.twist(self._completed(body))
        return 404, "no such path"

    def _load(self, name: str, folder: str) -> tuple[int, object]:
        if name in self.loaded or not Path(folder).is_dir():
            return 400, f"{name} is loaded already, or {folder} is no folder"
        if self._first is None or not self.stale:
            base, tokenizer = loading.load(str(self.model))
            model = PeftModel.from_pretrained(base, folder)
            self._first = loading.dinner(model, tokenizer, Recipe()).policy  # type: ignore[arg-type]  # PEFT's wrapper forwards everything
        self.loaded[name] = self._first
        return 200, "Success"

    def _completed(self, body: Json) -> Json:
        policy, prompt, number = self.loaded[str(body["model"])], body["prompt"], body["n"]
        assert isinstance(prompt, list)
        assert isinstance(number, int)
        keys = [None if body["temperature"] == 0 else f"{body['seed']}/{i}" for i in range(number)]
        policy.max_tokens = int(str(body["max_tokens"]))
        choices = [
            {
                "index": i,
                "finish_reason": "stop" if reply.ended else "length",
                "token_ids": list(reply.ids),
                "prompt_token_ids": prompt,
                "logprobs": {"token_logprobs": list(reply.logps)},
            }
            for i, reply in enumerate(policy.sample([tuple(prompt)], [(0, key) for key in keys]))
        ]
        return {"choices": choices}


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: StandIn
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body: Json = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, said = self.server.answer(self.path, body)
        data = (said if isinstance(said, str) else json.dumps(said)).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""
