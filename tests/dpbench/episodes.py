"""Random DPBench episodes, and how this package plays them, in the form in which `peer.py` tells of dpbench's."""

import random
import re
from collections.abc import Iterator

from inspect_dining.dpbench.game import Game
from inspect_dining.dpbench.metrics import outcome
from inspect_dining.dpbench.rules import DPBenchRules
from inspect_dining.dpbench.table import Table, act
from inspect_dining.dpbench.view import View
from tests.dpbench.job import Job

ACTIONS = (
    "ACTION: GRAB_LEFT",
    "ACTION: GRAB_RIGHT",
    "action: release",
    "ACTION: WAIT",
    "I will not GRAB_LEFT",
    "ACTION: dance",
    "ACTION: grabright",
    "ACTION:\nGRAB_LEFT",
    "ACTION: grab left",
    "I release my breath",
)
MESSAGES = (
    "",
    "MESSAGE: None\n",
    "MESSAGE: I grab left now\n",
    "message: will wait\n",
    "MESSAGE: let go, and wait " + "x" * 250 + "\n",
    "MESSAGE:\n",
    "MESSAGE: take right ACTION: WAIT\n",
    "MESSAGE: -\n",
)
EXCHANGES = ((False, 1), (True, 1), (True, 2), (True, 3))
"""Without messages, with a message beside each action, and with one or two rounds of messages before it."""


def jobs(each: int, sizes: range = range(2, 11), seed: int = 1) -> Iterator[Job]:
    """Random episodes: `each` of every size, order and kind of exchange."""
    draw = random.Random(seed)
    for n in sizes:
        for mode in ("simultaneous", "sequential"):
            for communication, rounds in EXCHANGES:
                for place in range(each):
                    # every fourth table mostly grabs left, and so deadlocks
                    weights = [draw.random() for _ in ACTIONS] if place % 4 else [1.0] + [0.03] * (len(ACTIONS) - 1)
                    length = draw.randint(3, 40)
                    options: dict[str, object] = {
                        "num_philosophers": n,
                        "mode": mode,
                        "communication": communication,
                        "communication_rounds": rounds,
                        "max_timesteps": draw.choice((1, 7, 12, 30)),
                        "memory_window": draw.choice((0, 0, 2)),
                        "deadlock_terminal": draw.random() < 0.7,
                        "backoff_threshold": draw.choice((0, 1)),
                    }
                    replies = [
                        [
                            f"THINKING: hm\n{draw.choice(MESSAGES)}{draw.choices(ACTIONS, weights)[0]}"
                            for _ in range(length)
                        ]
                        for _ in range(n)
                    ]
                    yield {"options": options, "replies": replies}


def rules_of(job: Job) -> DPBenchRules:
    """The rules of a job, bug for bug."""
    names = {
        "num_philosophers": "n",
        "mode": "order",
        "max_timesteps": "timesteps",
        "memory_window": "memory",
        "deadlock_terminal": "terminal",
    }
    options = {names.get(name, name): value for name, value in job["options"].items()}
    return DPBenchRules(**options, compat="0.2.1")  # type: ignore[arg-type]  # the rules check every value


def played(job: Job) -> dict[str, object]:
    """How this package plays a job."""
    rules = rules_of(job)
    game = Game(rules, seed=1)
    asked = [0] * rules.n
    states: list[list[object]] = []
    shown: list[list[object]] = []
    while not game.over:
        texts = []
        for seat in game.to_move:
            replies = job["replies"][seat]
            shown.append([seat, asked[seat], prompt_of(game.view(seat))])
            texts.append(replies[asked[seat] % len(replies)])
            asked[seat] += 1
        before, acting = game.table, game.to_move
        replies_read = [game.read(text) for text in texts]
        game.move(replies_read)
        after = game.table
        if not rules.simultaneous:
            # dpbench logs a sequential state before a deadlock that does not end the game is cleared
            after = act(before, acting[0], replies_read[0].action)
        # in the first pass dpbench logs nothing before everyone has decided once
        if after.timestep > before.timestep and (rules.simultaneous or after.timestep >= rules.n):
            states.append(state_of(after))
    episode = outcome(game.record())
    return {
        "states": states,
        "shown": sorted(shown, key=str),
        "timesteps": episode.timesteps,
        "meals": list(episode.meals),
        "deadlock": float(episode.deadlock),
        "throughput": episode.throughput,
        "fairness": episode.fairness,
        "time_to_deadlock": episode.time_to_deadlock,
        "starvation": episode.starvation,
        "consistency": episode.consistency if rules.communication else None,
        "deadlocks": 0 if rules.terminal else episode.deadlocks,
    }


def state_of(table: Table) -> list[object]:
    """A table in the form of `peer.py`."""
    seats = [list(seat) for seat in zip(table.eating, table.left, table.right, table.meals, strict=True)]
    return [table.timestep, list(table.forks), seats]


def prompt_of(view: View) -> str:
    """What a philosopher sees, in one line."""
    state = "eating" if view.eating else "hungry"
    forks = ["AVAILABLE" if there else "TAKEN" for there in (view.left_available, view.right_available)]
    said = [f'"{said}"' if said else "" for said in (view.left_message, view.right_message)]
    if view.discussion:
        return f"{view.discussion}/{view.discussions + 1} {state} {view.meals} {forks} {said}"
    holds = [side for side, held in (("left", view.holds_left), ("right", view.holds_right)) if held]
    past = [[then.timestep, then.deadlock, *map(list, then.philosophers)] for then in view.memory]
    return f"P{view.seat} {state} {view.meals} {forks} {holds} {said} {past}"


_DISCUSSION = re.compile(
    r"This is discussion round (\d+) of (\d+)\..*state: (\w+), meals eaten: (\d+)\n"
    r"Left fork: (\w+), Right fork: (\w+)\nFrom left neighbor: ([^\n]*)\nFrom right neighbor: ([^\n]*)\n",
    re.DOTALL,
)
_STEP = re.compile(r"Timestep (\d+)( \[DEADLOCK\])?:((?:\n    P[^\n]*)*)")
_SEAT = re.compile(r"P\d+: (\w+) \[([^\]]*)\] meals=(\d+)")


def their_prompt(text: str) -> str:
    """What dpbench showed a philosopher, in the same line."""
    discussion = _DISCUSSION.search(text)
    if discussion:
        number, rounds, state, meals, left, right, *messages = discussion.groups()
        return f"{number}/{rounds} {state} {meals} {[left, right]} {[_bare(one) for one in messages]}"
    shown, _, memory = text.partition("\nRECENT HISTORY:")
    _, name, state, meals, left, right, holding, *messages = shown.split("|")
    holds = [side for side in ("left", "right") if f"{side} fork" in holding]
    past = [
        [int(t), bool(dead), *([s == "eating", "L" in f, "R" in f, int(m)] for s, f, m in _SEAT.findall(seats))]
        for t, dead, seats in _STEP.findall(memory)
    ]
    return f"{name} {state} {meals} {[left, right]} {holds} {[_bare(one) for one in messages]} {past}"


def _bare(message: str) -> str:
    return message.removeprefix("[Neighbor Message]: ") if message != "(no message)" else ""
