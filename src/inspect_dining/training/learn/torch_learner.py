"""The learner in this process: credit for every turn, pairs weighted by it, and Adam steps on them."""

from collections.abc import Callable
from statistics import fmean

from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from accelerate.utils import gather_object  # type: ignore[import-untyped]  # as above

from inspect_dining.training.keep.run_directory import MetricsRow
from inspect_dining.training.learn.choices import Choices
from inspect_dining.training.learn.credit.sources import Credit
from inspect_dining.training.learn.diversity import Apart, apart, first_replies
from inspect_dining.training.learn.exploration import Explore
from inspect_dining.training.learn.objective import flat, pairs, sampled
from inspect_dining.training.learn.updates import Update, Updater
from inspect_dining.training.play.policy import Policy
from inspect_dining.training.protocols import LearnerState, Lesson
from inspect_dining.training.recipe import Recipe


class TorchLearner:
    """Learns with torch in every process of the run.

    Attributes:
        updater: Takes the steps of Adam.
        credit: The source of credit.
    """

    url = ""

    def __init__(
        self, recipe: Recipe, policy: Policy, accelerator: Accelerator, credit: Credit, tell: Callable[[str], None]
    ) -> None:
        """Takes the policy being trained, on its device, and the receiver of unusual news."""
        self._tell = tell
        self.recipe, self.accelerator, self.credit = recipe, accelerator, credit
        self.updater = Updater(policy, accelerator, cap=recipe.cap, clip=recipe.clip, micro_tokens=recipe.micro_tokens)
        self._choices = Choices(policy.prompts) if recipe.explore else None

    def begin(self, step: int, restarts: int) -> None:
        """Starts no other process; reports if the model does not allow packing."""
        if self.updater.plain:
            self._tell(self.updater.plain)

    def learn(self, lesson: Lesson) -> MetricsRow:
        """Takes the updates of a step."""
        recipe = self.recipe
        credited = self.credit.assign(lesson.groups)
        weighed = pairs(
            lesson.groups,
            credited.advantages,
            planned=recipe.groups,
            weighting=recipe.weighting,
            anchor=recipe.anchor,
        )
        dead: list[bool] = gather_object([flat(group) for group in credited.advantages])
        charged: list[bool] = gather_object([bool(weighed)])  # lost turns are charged in groups without spread too
        made: list[Update] = []
        if any(charged):
            bonus = self._bonus(lesson)
            explore = Explore(self._choices, lesson.explore) if self._choices and lesson.explore else None
            charge = abs(lesson.entropy) + lesson.explore
            rank, processes = self.accelerator.process_index, self.accelerator.num_processes
            for number in range(recipe.updates):
                key = f"{recipe.seed}/{lesson.step}/{number}/{rank}"
                some = sampled(weighed, recipe.pairs // processes, key, charge) if recipe.pairs else weighed
                made.append(self.updater.update(some, lesson.rate, lesson.entropy, bonus, explore))
        row: MetricsRow = {
            "dead_groups": fmean(dead),
            "pairs": len(weighed),
            "tokens": sum(update.tokens for update in made),
            "gradient": fmean(update.gradient for update in made) if made else 0.0,
            "entropy": made[0].entropy if made else 0.0,
            "off": made[0].off if made else 0.0,
            "entropy_coefficient": lesson.entropy,
            **credited.row,
        }
        if made and made[0].information is not None:
            row["information"] = made[0].information
        if made and made[0].choice is not None:
            row["choice_entropy"] = made[0].choice
        return row

    def _bonus(self, lesson: Lesson) -> Apart | None:
        """The bonus on seats that act apart, if there is one."""
        if not lesson.diversity:
            return None
        replies = gather_object(first_replies(lesson.groups))
        return apart(lesson.groups, replies, self.recipe.groups, lesson.diversity)

    def state(self) -> LearnerState:
        """Adam's moments and the state of the source of credit."""
        return LearnerState(optimizer=self.updater.optimizer.state_dict(), credit=self.credit.state())

    def load_state(self, state: LearnerState) -> None:
        """Restores such a state."""
        self.updater.optimizer.load_state_dict(state["optimizer"])
        self.credit.load_state(state["credit"])

    def forget(self) -> None:
        """Drops Adam's moments and everything that the source of credit has learned."""
        self.updater.optimizer.state.clear()
        self.credit.forget()

    def close(self) -> None:
        """Nothing to do, since there is no other process."""
