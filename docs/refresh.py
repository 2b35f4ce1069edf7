"""Runs every command that a page shows and puts what it prints below it.

    python docs/refresh.py docs/audit.md

A page shows a command in a `console` block, as `$ python -m inspect_dining ...`; the tests check that what stands below
is what the command prints, at 80 columns.
"""

import re
import shlex
import sys
from pathlib import Path

import click
from click.testing import CliRunner

from inspect_dining.cli.main import main

BLOCK = re.compile(r"```console\n\$ python -m inspect_dining (?P<arguments>[^\n]+)\n(?P<output>.*?)```", re.DOTALL)


def printed(arguments: str) -> str:
    """What a command prints, without the blanks at line ends and whether it succeeds or not."""
    done = CliRunner(env={"COLUMNS": "80"}).invoke(main, shlex.split(arguments))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return "".join(f"{line.rstrip()}\n" for line in done.output.splitlines())


def refreshed(page: str) -> str:
    """A page with the output of all its commands as it is now."""

    def as_now(block: re.Match[str]) -> str:
        return f"```console\n$ python -m inspect_dining {block['arguments']}\n{printed(block['arguments'])}```"

    return BLOCK.sub(as_now, page)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
        click.echo(f"{name} is as its commands print now.")
