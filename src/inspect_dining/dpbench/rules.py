"""The rules of one DPBench game, and the conditions under which DPBench plays it."""

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from inspect_dining.table.rules import Order, is_whole

Compat = Literal["0.2.1", "corrected"]
Prompt = Literal["default", "minimal", "resource_ordering", "symmetry_breaking", "theory_of_mind"]


_BOUNDS = {
    "n": (2, 100),
    "timesteps": (1, 1_000),
    "communication_rounds": (1, 50),
    "memory": (0, 1_000),
    "backoff_threshold": (0, 1_000),
}


@dataclass(frozen=True, slots=True)
class DPBenchRules:
    """The rules of one DPBench game.

    Attributes:
        n: Number of philosophers and of forks, at least 2.
        timesteps: The horizon. A simultaneous step of all philosophers is one timestep; in sequential order every
            single action is one, and the end is tested after each pass over the table.
        order: `simultaneous` or `sequential`.
        communication: Whether a reply may carry a message to both neighbours.
        communication_rounds: If R is above 1, R - 1 rounds of messages precede each action; simultaneous only.
        memory: How many of the latest states of the whole table a philosopher is shown.
        terminal: Whether a deadlock ends the game; if not, all forks are put back and play goes on.
        backoff_threshold: The number of consecutive steps holding exactly one fork after which a philosopher may be
            made to release it; 0 for never.
        backoff_probability: The probability of that release at each such step.
        prompt: The prompt strategy.
        compat: `0.2.1` plays bug for bug like dpbench 0.2.1; `corrected` corrects the defects listed in
            docs/dpbench.md.

    Raises:
        ValueError: A value is not accepted.
    """

    n: int
    timesteps: int = 30
    order: Order = "simultaneous"
    communication: bool = False
    communication_rounds: int = 1
    memory: int = 0
    terminal: bool = True
    backoff_threshold: int = 0
    backoff_probability: float = 0.5
    prompt: Prompt = "default"
    compat: Compat = "corrected"

    def __post_init__(self) -> None:
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if not is_whole(value) or not least <= value <= most:
                raise ValueError(
                    f"{name}={_shown(value)} is not accepted: {name} must be a whole number from {least} to {most:,}."
                )
        for name in ("communication", "terminal"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name}={_shown(getattr(self, name))} is not accepted: give true or false.")
        for name, accepted in OPTIONS.items():
            if getattr(self, name) not in accepted:
                raise ValueError(f"{name}={_shown(getattr(self, name))} is not known; accepted: {', '.join(accepted)}.")
        chance: object = self.backoff_probability
        if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 <= chance <= 1:
            raise ValueError(f"backoff_probability={_shown(chance)} is not accepted: give a number from 0 to 1.")
        if self.communication_rounds > 1 and not self.exact and not (self.communication and self.simultaneous):
            raise ValueError(
                f"communication_rounds={self.communication_rounds} needs communication and simultaneous order; dpbench "
                "0.2.1 ignores it otherwise. Leave it out, or use compat=0.2.1."
            )

    @property
    def exact(self) -> bool:
        """Whether the game reproduces dpbench 0.2.1 bug for bug."""
        return self.compat == "0.2.1"

    @property
    def simultaneous(self) -> bool:
        """Whether all philosophers act at once."""
        return self.order == "simultaneous"

    @property
    def discussions(self) -> int:
        """The number of rounds of messages before each action."""
        return self.communication_rounds - 1 if self.communication and self.simultaneous else 0

    @property
    def calls(self) -> int:
        """The maximum model calls of one game."""
        return self.n * self.most_rounds * (self.discussions + 1)

    @property
    def most_rounds(self) -> int:
        """The maximum rounds of a game (steps of all philosophers, or passes over the table)."""
        return self.timesteps if self.simultaneous else -(-self.timesteps // self.n)

    def options(self) -> dict[str, str | int | float]:
        """The rules as plain values, without those that are at their default; `DPBenchRules(**options)` reads them."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name == "n" or getattr(self, field.name) != field.default
        }


def _shown(value: object) -> str:
    """A value as shown in a message."""
    try:
        return repr(value)[:80]
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of thousands of digits"


OPTIONS: dict[str, tuple[str, ...]] = {
    "order": get_args(Order),
    "prompt": get_args(Prompt),
    "compat": get_args(Compat),
}
"""The accepted values of each rule with named values."""

_BASE = DPBenchRules(5)


def _sized(*sizes: int, order: Order = "simultaneous", talks: tuple[bool, ...] = (False,)) -> dict[str, DPBenchRules]:
    short = "sim" if order == "simultaneous" else "seq"
    return {
        f"{short}_n{n}_{'comm' if talk else 'nocomm'}": DPBenchRules(n, order=order, communication=talk)
        for n in sizes
        for talk in talks
    }


CONDITIONS: dict[str, DPBenchRules] = {
    **_sized(3, 5, 10, talks=(False, True)),
    **_sized(3, 5, order="sequential", talks=(False, True)),
    **_sized(10, 15, order="sequential"),
    **_sized(7, 15, 20),
    "prompt_minimal": replace(_BASE, prompt="minimal"),
    "prompt_resource_ordering": replace(_BASE, prompt="resource_ordering"),
    "prompt_symmetry_breaking": replace(_BASE, prompt="symmetry_breaking"),
    "prompt_theory_of_mind": replace(_BASE, prompt="theory_of_mind"),
    "temp_0.3": _BASE,
    "temp_1.0": _BASE,
    "temp_1.5": _BASE,
    "memory_3": replace(_BASE, memory=3),
    "memory_5": replace(_BASE, memory=5),
    "memory_3_with_comm": replace(_BASE, memory=3, communication=True),
    "comm_rounds_3": replace(_BASE, communication=True, communication_rounds=3),
    "comm_rounds_5": replace(_BASE, communication=True, communication_rounds=5),
    "nonterminal_deadlock": replace(_BASE, terminal=False, timesteps=100),
    "randomized_backoff": replace(_BASE, backoff_threshold=2),
    "long_episodes_100": replace(_BASE, timesteps=100),
}
"""DPBench's conditions by their names: the eight of the paper's first version, and the later layers."""
EIGHT = {
    f"{order}{n}{code}": f"{order}_n{n}_{talk}"
    for order in ("sim", "seq")
    for n in (5, 3)
    for code, talk in (("nc", "nocomm"), ("c", "comm"))
}
"""The short codes of the eight, such as `sim5nc`, and their meaning."""
TEMPERATURES = {"temp_0.3": 0.3, "temp_1.0": 1.0, "temp_1.5": 1.5}
"""The conditions with their own temperature."""
TEMPERATURE = 0.7
"""The temperature of all other conditions."""
