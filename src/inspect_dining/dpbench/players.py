"""Scripted players for DPBench's game, with the same names as in our game.

Each answers with text, as a model does: its action and, if messages are exchanged, an announcement of exactly
that action. They need no key, no network and no GPU.
"""

from collections.abc import Callable
from difflib import get_close_matches

from inspect_dining.dpbench.table import Action
from inspect_dining.dpbench.view import View
from inspect_dining.table.rules import Coin

Decide = Callable[[View, Coin], Action | None]

_SAYS = {
    Action.GRAB_LEFT: "I grab left.",
    Action.GRAB_RIGHT: "I grab right.",
    Action.RELEASE: "I release what I hold.",
    Action.WAIT: "I wait.",
}


def _in_order(view: View, left_first: bool) -> Action:
    """Takes one fork first and then the other, waits for taken forks, and waits while it eats."""
    first, second = (Action.GRAB_LEFT, Action.GRAB_RIGHT) if left_first else (Action.GRAB_RIGHT, Action.GRAB_LEFT)
    held = view.holds_left if left_first else view.holds_right
    there = (view.left_available, view.right_available)
    available, other = there if left_first else there[::-1]
    if view.eating:
        return Action.WAIT
    if not held:
        return first if available else Action.WAIT
    return second if other else Action.WAIT


def _backoff(view: View, coin: Coin) -> Action:
    """Left first; half the time lets go if the right fork is taken."""
    stuck = view.holds_left and not view.right_available
    return Action.RELEASE if stuck and coin.random() < 0.5 else _in_order(view, left_first=True)


PLAYERS: dict[str, Decide] = {
    "silent": lambda view, coin: None,
    "think": lambda view, coin: Action.WAIT,
    "random": lambda view, coin: coin.choice(tuple(Action)),
    "left_first": lambda view, coin: _in_order(view, left_first=True),
    "hierarchy": lambda view, coin: _in_order(view, left_first=view.seat < view.n - 1),
    "odd_even": lambda view, coin: _in_order(view, left_first=view.seat % 2 == 1),
    "backoff": _backoff,
}
"""The players by name. `odd_even` is DPBench's resource ordering: even philosophers right first, odd ones left first;
`hierarchy` takes the fork with the lower number first."""


def answer(name: str, view: View, coin: Coin) -> str:
    """The reply of a scripted player.

    Args:
        name: The player.
        view: Its philosopher's view.
        coin: Its coin, which is the same in the rounds of messages before an action and for the action itself.

    Raises:
        ValueError: No player of this game has that name.
    """
    if name not in PLAYERS:
        near = get_close_matches(name, PLAYERS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ValueError(f"{name!r} does not play DPBench's game.{hint} Accepted: {', '.join(PLAYERS)}.")
    action = PLAYERS[name](view, coin)
    if action is None:
        return "I say nothing."
    lines = [f"MESSAGE: {_SAYS[action]}"] if view.talking else []
    if not view.discussion:
        lines.append(f"ACTION: {action.value.upper()}")
    return "\n".join(lines)


def player(name: str, seed: int = 0) -> Callable[[View], str]:
    """A scripted player for `game.play`; its coins follow the order of its calls."""
    asked: dict[int, int] = {}

    def decide(view: View) -> str:
        turn = asked.setdefault(view.seat, 0)
        if not view.discussion:
            asked[view.seat] = turn + 1
        return answer(name, view, Coin("dpbench", seed, turn, view.seat))

    return decide
