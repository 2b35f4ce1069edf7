"""`replay --step` in a real terminal: a pseudo-terminal, and keys as a terminal sends them."""

import os
import pty
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from inspect_dining.table import Rules, play

RIGHT, LEFT = b"\x1b[C", b"\x1b[D"


@pytest.mark.slow
def test_the_arrow_keys_step_through_the_rounds_and_q_ends(tmp_path: Path) -> None:
    (tmp_path / "game.json").write_text(play(Rules(n=3, rounds=4), "odd_even", seed=1).to_json())
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "inspect_dining", "replay", str(tmp_path / "game.json"), "--step"]
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "COLUMNS": "80"})
    os.close(theirs)
    shown = b""

    def read_until(text: bytes) -> None:
        nonlocal shown
        while text not in shown:
            try:
                part = os.read(ours, 4096)
            except OSError:  # what Linux gives once the other end is closed
                part = b""
            assert part, shown.decode(errors="replace")
            shown += part

    # Past either end nothing moves. What is typed before the terminal is in raw mode is dropped.
    for key, round in ((b"", 1), (LEFT, 1), (RIGHT, 2), (RIGHT, 3), (RIGHT, 4), (RIGHT, 4), (LEFT, 3)):
        shown = b""
        os.write(ours, key)
        read_until(f"Round {round} of 4".encode())
        read_until(b"q: end")
        while termios.tcgetattr(ours)[3] & termios.ICANON:
            time.sleep(0.01)
    os.write(ours, b"q")
    assert child.wait() == 0
    os.close(ours)
