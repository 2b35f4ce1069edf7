"""Inspect's own viewer on loopback, before a real Chromium without a head.

What was seen is kept as pictures under `.test-output/viewer/`.
"""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.viewer.games import Played, play_all

PICTURES = Path(__file__).parents[2] / ".test-output" / "viewer"
"""Where the pictures lie, for people; git does not keep them."""
WIDTH, HEIGHT = 1400, 1000
STARTS_WITHIN = 120.0
"""Seconds in which the viewer's server must answer."""
WAITS = 60_000.0
"""Milliseconds after which what has not appeared in the browser is missing."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """The viewer of some logs.

    Attributes:
        url: Where it answers.
        logs: The logs it shows, by name.
    """

    url: str
    logs: dict[str, Played] = field(repr=False)

    def sample(self, name: str, tab: str = "transcript") -> str:
        """The address of the first sample of a log."""
        return f"{self.list(name)}/sample/{self.logs[name].first.id}/1/{tab}"

    def list(self, name: str) -> str:
        """The address of a log's list of samples."""
        return f"{self.url}/#/logs/{self.logs[name].file}/samples"


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    """Plays the dinners, and serves their logs as `inspect view` does."""
    folder = tmp_path_factory.mktemp("dinners")
    logs = play_all(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "inspect_ai", "view", "start", "--log-dir", str(folder), "--port", str(port)]
    PICTURES.mkdir(parents=True, exist_ok=True)
    with (PICTURES / "server.txt").open("w", encoding="utf-8") as said:
        server = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
    try:
        url = f"http://127.0.0.1:{port}"
        _await(url, server)
        yield Viewer(url, logs)
    finally:
        server.terminate()
        server.wait(30)


def _await(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + STARTS_WITHIN
    while server.poll() is None and time.monotonic() < until:
        try:
            with urlopen(url, timeout=5):
                return
        except (URLError, TimeoutError):
            time.sleep(0.2)
    pytest.fail(f"inspect view did not answer: see {PICTURES / 'server.txt'}")


@pytest.fixture(scope="module")
def browser(viewer: Viewer) -> Iterator[Browser]:
    """A Chromium; it starts after the dinners, since Inspect and playwright each want an event loop of their own."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("There is no chromium on PATH, and the viewer is tested in one: run `make chromium`.")
    with sync_playwright() as playwright:
        # a container runs as root, which Chromium's sandbox refuses; nothing but loopback is visited
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page, which must have come to its end without an error of a script."""
    errors: list[str] = []
    opened = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    opened.set_default_timeout(WAITS)
    expect.set_options(timeout=WAITS)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    opened.close()
    assert errors == []


def picture(page: Page, name: str) -> None:
    """Keeps what is seen now, at the size of an ordinary window."""
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.screenshot(path=PICTURES / f"{name}.png")
