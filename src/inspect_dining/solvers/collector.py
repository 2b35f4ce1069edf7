"""Python's garbage collector while a dinner is played."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = 50_000
"""New objects after which the youngest are gone through while games are played; Python's own number is 700."""
_games = 0
_usual = gc.get_threshold()


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Lets the collector run less often until the last of the games that are being played has ended.

    Every turn leaves some thousand objects in reference cycles. At Python's own threshold a dinner spends a third of
    its time on going through them, and through all modules again and again. Only the first threshold is raised, never
    lowered: what a host has set higher, switched off or frozen stays so. At the end the host's own threshold is back,
    unless somebody has set another one in between.
    """
    global _games, _usual
    if _games == 0:
        _usual = gc.get_threshold()
        if 0 < _usual[0] < _SELDOM:
            gc.set_threshold(_SELDOM, *_usual[1:])
    _games += 1
    try:
        yield
    finally:
        _games -= 1
        if _games == 0 and gc.get_threshold() == (_SELDOM, *_usual[1:]):
            gc.set_threshold(*_usual)
