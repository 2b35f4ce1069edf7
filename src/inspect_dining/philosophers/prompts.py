"""What a philosopher is told: the rules, its six tools, and before every turn an observation of the table.

One text for evaluation and training. The observation begins with `table.view.render`, so scripted players parse the
very prompt that a language model gets.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

from inspect_dining.table.moves import Action
from inspect_dining.table.rules import Rules
from inspect_dining.table.view import View, describe, render

_ORDER = {
    "simultaneous": (
        "In every round all philosophers choose at the same moment, each seeing the table as it stood when the round "
        "began. A fork that is held when a round begins cannot be picked up in that round."
    ),
    "sequential": (
        "In every round the philosophers choose one after the other, from seat 0 on, each seeing the table as it then "
        "stands. A fork that is put down can be picked up by the next philosopher at once."
    ),
}
_TIES = {
    "random": "chance decides who gets it",
    "rotate": "they get it by turns, changing from round to round",
    "lowest": "the philosopher with the lower number gets it",
}
_RELEASE = {
    "auto": "After a meal both your forks return to the table at the end of the round.",
    "manual": ("After a meal the forks stay in your hands, and you must put down both before you can eat again."),
}


@lru_cache(maxsize=256)
def system_prompt(rules: Rules) -> str:
    """The rules of the game in words, the same for every seat and round."""
    stuck = "a round" if rules.patience == 1 else f"{rules.patience} rounds in a row"
    return (
        "You are a philosopher at a round table. Between each two neighbours lies one fork, and eating takes both the "
        "fork on your left and the fork on your right. You cannot talk to the others.\n"
        f"{_ORDER[rules.order]} If two neighbours reach for the same free fork, {_TIES[rules.ties]}. "
        f"{_RELEASE[rules.release]}\n"
        f"If {stuck} ends with every philosopher holding exactly one fork, the table is deadlocked and the game is "
        "over. Together you should avoid deadlock, eat as many meals as you can, and let everyone eat.\n"
        "In each round take exactly one action by calling exactly one tool."
    )


TOOLS: dict[Action, str] = {
    Action.PICK_UP_LEFT: "Pick up the fork on your left, if it is free.",
    Action.PICK_UP_RIGHT: "Pick up the fork on your right, if it is free.",
    Action.PUT_DOWN_LEFT: "Put down the fork on your left, if it is in your hand.",
    Action.PUT_DOWN_RIGHT: "Put down the fork on your right, if it is in your hand.",
    Action.EAT: "Eat one meal, if both forks are in your hands.",
    Action.THINK: "Do nothing in this round.",
}
"""The six tools, none of which takes an argument, with what the model reads about them."""


def tool_schemas() -> list[dict[str, object]]:
    """The six tools as JSON function schemas, as chat templates and OpenAI-compatible servers take them."""
    return [
        {
            "type": "function",
            "function": {
                "name": action.value,
                "description": description,
                "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
            },
        }
        for action, description in TOOLS.items()
    ]


def observation(view: View, before: Sequence[View] = ()) -> str:
    """What a seat reads before its turn.

    Args:
        view: What it sees now.
        before: Its own earlier views that it remembers, oldest first, without gaps up to the round before this one;
            what came of each turn stands in the view after it.

    Returns:
        The rendered view and, where there is something to remember, a line for each remembered turn.
    """
    if not before:
        return render(view)
    after = [*before[1:], view]
    lines = [
        f"Round {then.round}: left fork {then.left}, right fork {then.right}; {describe(now.last)}"
        for then, now in zip(before, after, strict=True)
    ]
    return "\n".join([render(view), "Your turns before:", *lines])


@lru_cache(maxsize=256)
def prompt_hash(rules: Rules) -> str:
    """8 hex digits that name the prompt (system text and tools), so that runs with unlike prompts are told apart."""
    return sha256(f"{system_prompt(rules)}{TOOLS}".encode()).hexdigest()[:8]
