"""One episode to play, as it is handed to dpbench."""

from typing import TypedDict


class Job(TypedDict):
    """One episode.

    Attributes:
        options: The options of dpbench's BenchmarkConfig.
        replies: For each philosopher the texts that it replies, in order and over again.
    """

    options: dict[str, object]
    replies: list[list[str]]
