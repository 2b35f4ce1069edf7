"""The server that we start: healthy or a sentence, and gone with everything it started, however we end.

A stand-in for the package `vllm` is put on the path of the server's interpreter; the process around it is the real one.
"""

import copy
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from inspect_dining.errors import BadInput
from inspect_dining.table.rules import Rules
from inspect_dining.training.play.rollouts import TOOLS
from inspect_dining.training.play.vllm_server import Server, served_template
from inspect_dining.training.tiny.model import tiny_tokenizer

SERVER = """
import http.server, signal, subprocess, sys, time
place = sys.argv[sys.argv.index("--port") + 1]
print("arguments", *sys.argv[1:], flush=True)
MODE = sys.argv[-1]
if MODE == "--dies":
    print("(EngineCore pid=7) WARNING [x.py:1] may fail like `OSError: nothing`")
    print("(EngineCore pid=7) ERROR [core.py:1] RuntimeError: no attention for such heads")
    sys.exit("EngineDeadError: see above")
if MODE == "--hangs":
    time.sleep(60)
if MODE == "--stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print("worker", worker.pid, flush=True)

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()
    def log_message(self, *_):
        pass

http.server.HTTPServer(("127.0.0.1", int(place)), Handler).serve_forever()
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    package = tmp_path / "path" / "vllm"
    inside = package / "entrypoints" / "openai"
    inside.mkdir(parents=True)
    for folder in (package, package / "entrypoints", inside):
        (folder / "__init__.py").write_text("", encoding="utf-8")
    (inside / "api_server.py").write_text(SERVER, encoding="utf-8")
    return {"PYTHONPATH": str(tmp_path / "path")}


@pytest.fixture(autouse=True)
def found(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The check for vLLM runs in the same environment."""
    monkeypatch.setenv("PYTHONPATH", environment["PYTHONPATH"])


def worker_of(log: Path) -> int:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        lines = [line for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("worker ")]
        if lines:
            return int(lines[0].split()[1])
        time.sleep(0.05)
    raise TimeoutError("The server started no worker.")


def gone(pid: int) -> bool:
    """Whether a process ended, within a few seconds; one that nobody has buried yet counts as ended."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_it_answers_on_loopback_and_is_gone_with_its_workers(tmp_path: Path) -> None:
    log, told = tmp_path / "vllm.log", list[str]()
    with Server("model", log, rank=5, more=["--more", "x"]) as server:
        server.wait(told.append)
        server.alive()
        worker = worker_of(log)
    assert told
    assert told[0].startswith(f"vLLM answers at {server.url}")
    assert gone(worker)
    with pytest.raises(BadInput, match="vLLM ended with status"):
        server.alive()
    arguments = log.read_text(encoding="utf-8").splitlines()[0]
    for expected in ("--host 127.0.0.1", "--enable-lora --max-lora-rank 8", "--tool-call-parser hermes", "--more x"):
        assert expected in arguments
    assert "--generation-config vllm" in arguments
    server.close()  # a second time does no harm


def test_it_is_gone_after_an_exception_too(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"

    def interrupted() -> None:
        with Server("model", log) as server:
            server.wait(print)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert gone(worker_of(log))


def test_a_server_that_will_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspect_dining.training.play.vllm_server.STOPS_WITHIN_S", 0.3)
    log = tmp_path / "vllm.log"
    with Server("model", log, more=["--stubborn"]) as server:
        server.wait(print)
        worker = worker_of(log)
    assert gone(worker)


def test_a_server_that_dies_says_why(tmp_path: Path) -> None:
    """The first error is the cause; the last line of vLLM only says that there was one."""
    log = tmp_path / "vllm.log"
    log.write_text("RuntimeError: of an earlier run\n", encoding="utf-8")
    with Server("model", log, more=["--dies"]) as server, pytest.raises(BadInput) as raised:
        server.wait(print)
    said = str(raised.value)
    assert said == f"vLLM ended with status 1; it said: RuntimeError: no attention for such heads (all of it: {log})."


@pytest.mark.slow
def test_a_server_that_does_not_become_healthy_is_given_up(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    with Server("model", log, more=["--hangs"]) as server:
        deadline = time.monotonic() + 20
        while not log.read_text(encoding="utf-8") and time.monotonic() < deadline:
            time.sleep(0.05)  # on a busy machine it takes more than a second to say anything
        with pytest.raises(BadInput, match="is not healthy after 1 s; it said: arguments"):
            server.wait(print, within=1)


@pytest.mark.slow
def test_it_dies_with_a_process_that_is_killed(tmp_path: Path) -> None:
    """SIGKILL lets no finally run; a server that stayed would hold the GPU."""
    log = tmp_path / "vllm.log"
    code = (
        "import sys, time; from pathlib import Path; from inspect_dining.training.play.vllm_server import Server\n"
        "server = Server('model', Path(sys.argv[1])); server.wait(print); print('up', flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", code, str(log)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    lines = [owner.stdout.readline(), owner.stdout.readline()]
    assert lines[1] == "up\n", lines
    worker = worker_of(log)
    assert not gone_now(worker)
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    assert gone(worker)


def gone_now(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_an_interpreter_without_vllm_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH")
    with pytest.raises(BadInput, match=r"has no vLLM: install it there .* --vllm-python PATH"):
        Server("model", tmp_path / "vllm.log")
    with pytest.raises(BadInput, match="The interpreter /none/python does not run"):
        Server("model", tmp_path / "vllm.log", python="/none/python")


def test_a_rank_that_vllm_does_not_serve_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="lora_rank=1000 is too large"):
        Server("model", tmp_path / "vllm.log", rank=1000)


def test_the_tools_of_an_evaluation_are_shown_as_in_training() -> None:
    """Inspect's `vllm/` writes `strict: true` into every tool, which no training prompt has."""
    tokenizer = tiny_tokenizer(Rules(n=5))
    chat = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
    plain = [dict[object, object](tool.items()) for tool in TOOLS]
    strict = copy.deepcopy(plain)
    for tool in strict:
        assert isinstance(tool["function"], dict)
        tool["function"]["strict"] = True
    template = served_template(tokenizer)
    trained = tokenizer.apply_chat_template(chat, tools=[*plain], tokenize=False)
    assert tokenizer.apply_chat_template(chat, tools=[*strict], chat_template=template, tokenize=False) == trained
    assert tokenizer.apply_chat_template(chat, tools=[*strict], tokenize=False) != trained
    bare = tokenizer.apply_chat_template(chat, chat_template=template, tokenize=False)
    assert bare == tokenizer.apply_chat_template(chat, tokenize=False)
