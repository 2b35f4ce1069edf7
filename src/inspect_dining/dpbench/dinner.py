"""DPBench's game for the dinner, with the same lanes, rounds and cards as other games."""

from collections.abc import Mapping, Sequence

from inspect_ai.solver import Solver, TaskState, solver
from inspect_ai.tool import ToolInfo

from inspect_dining.dpbench.game import Game
from inspect_dining.dpbench.narration import account, did, ending, held, quoted, round_card
from inspect_dining.dpbench.prompts import observation, system_prompt
from inspect_dining.dpbench.reading import Reply
from inspect_dining.dpbench.record import DPBENCH_RECORD
from inspect_dining.dpbench.rules import DPBenchRules
from inspect_dining.dpbench.view import View
from inspect_dining.errors import BadInput
from inspect_dining.philosophers import reading
from inspect_dining.solvers.dinner import host
from inspect_dining.solvers.games import Told
from inspect_dining.table.moves import Kind
from inspect_dining.table.rules import Split, episode_seed


@solver
def dpbench_dinner(philosopher: str | None = None, split: Split = "test") -> Solver:
    """Seats a philosopher at every place and plays DPBench's game to its end.

    The sample's metadata holds `dpbench`, the options of its rules (see `DPBenchRules.options`); its id keys the game's
    chance. A philosopher's only memory is what the rules show it again.

    Args:
        philosopher: `package.module:name` of your own philosopher (see `philosophers.graph`).
        split: The family of games that sample ids refer to.

    Raises:
        BadInput: An argument is not accepted.
    """

    def lay(state: TaskState) -> DPBenchGame:
        options = state.metadata.get("dpbench")
        if not isinstance(options, dict):
            raise BadInput("The dinner has no rules of DPBench: give them as `dpbench` in the metadata of the sample.")
        return DPBenchGame(DPBenchRules(**options), episode_seed(split, str(state.sample_id)))

    return host(lay, 0, philosopher)


class DPBenchGame:
    """DPBench's game as seen by the dinner."""

    key = DPBENCH_RECORD
    tools: tuple[ToolInfo, ...] = ()

    def __init__(self, rules: DPBenchRules, seed: int) -> None:
        """Sets an empty table."""
        self.game = Game(rules, seed)
        self.n = rules.n
        self._before = self.game.table
        self._heard: dict[int, str] = {}

    @property
    def number(self) -> int:
        """The round being played."""
        return self.game.number

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.game.over

    @property
    def to_move(self) -> tuple[int, ...]:
        """The philosophers whose reply is wanted now."""
        return self.game.to_move

    def system(self, seat: int) -> str:
        """The system prompt of a philosopher."""
        return system_prompt(self.game.rules, seat)

    def view(self, seat: int) -> View:
        """A philosopher's current view."""
        return self.game.view(seat)

    def observation(self, view: View, recalled: Sequence[View]) -> str:
        """A philosopher's observation; its memory is in the view."""
        return observation(self.game.rules, view)

    def read(self, reply: reading.Reply) -> Reply:
        """The reading of a reply now."""
        stop = reply.stop
        return self.game.read(reply.text, cut=stop is reading.Stop.LENGTH, refused=stop is reading.Stop.REFUSED)

    def move(self, replies: Sequence[Reply]) -> bool:
        """Takes the replies of those to move; returns whether the round closed."""
        game, moving, discussion = self.game, self.game.to_move, self.game.discussion
        if not discussion and moving[0] == game.order_of_pass[0]:
            self._before = game.table
        closed = game.move(replies)
        for seat, reply in zip(moving, replies, strict=True):
            spoken = [f"Said to both neighbours: {quoted(reply.message)}"] if reply.message else []
            if not discussion:
                forks = held(game.table, seat)
                mark = "" if reply.kind is Kind.ACTION else "✗ "
                spoken.append(f"{mark}{did(reply).removeprefix('✗ ')}; forks {forks}; meals {game.table.meals[seat]}.")
            self._heard[seat] = "\n\n".join(spoken) or "Said nothing."
        return closed

    def fail(self, seat: int) -> bool:
        """DPBench has no faults."""
        return False

    def told(self, seat: int) -> Told | None:
        """The outcome of a reply, as a line for the lane. The philosopher itself is not told, as in dpbench."""
        return Told("", self._heard[seat])

    def heading(self) -> str:
        """The round that has just closed: its number, who began to eat, and where it locked."""
        before, after = self._before, self.game.table
        number = len(self.game.rounds)
        if after.deadlocked:
            return f"round {number}: DEADLOCK"
        ate = [f"P{seat}" for seat in range(self.n) if after.meals[seat] > before.meals[seat]]
        return f"round {number}: {', '.join(ate)} ate" if ate else f"round {number}: nobody ate"

    def card(self, said: Mapping[int, str]) -> str:
        """The round that has just closed; messages are included as delivered."""
        game = self.game
        return round_card(game.rules, len(game.rounds), game.rounds[-1], self._before, game.table)

    def record(self, unfinished: str = "unfinished") -> dict[str, object]:
        """The record up to the last whole round."""
        return self.game.record(unfinished).to_dict()

    def account(self, unfinished: str) -> str:
        """Why the game ended, the meals, and which turns were lost."""
        return account(self.game.record(unfinished))

    def result(self, unfinished: str) -> str:
        """How the game ended, and the meals."""
        meals = self.game.table.meals
        return f"{ending(self.game.record(unfinished))} Meals: {sum(meals)} ({'/'.join(map(str, meals))})."
