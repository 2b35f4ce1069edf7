"""The one exception for input that is not accepted."""

import click

from inspect_dining.border import plain


class BadInput(click.ClickException, ValueError):
    """Input that is not accepted, in one sentence: what was given, what is accepted, what to do.

    On the command line, including Inspect's, it prints that sentence and exits with status 1; in Python it is a
    `ValueError`.
    """

    def __init__(self, message: str) -> None:
        """Takes the sentence, which may quote foreign text."""
        super().__init__("\n".join(plain(line, None) for line in str(message).split("\n")))

    def __str__(self) -> str:
        return self.message
