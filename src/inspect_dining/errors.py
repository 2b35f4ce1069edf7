"""The one exception for input that is not accepted."""

import click


class BadInput(click.ClickException, ValueError):
    """Input that is not accepted, in one sentence: what was given, what is accepted, what to do.

    On the command line, Inspect's included, it prints that sentence and exits with status 1; in Python it is a
    `ValueError`.
    """

    def __str__(self) -> str:
        return self.message
