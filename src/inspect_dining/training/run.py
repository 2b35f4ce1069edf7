"""The run: play, reward, update; periodically a checkpoint with its selection games; at the end the held-out games.

Seeds: a game is keyed by (run, step, group), its sampling by (run, step, group, member, seat, round). Nothing else is
random, so in one process with fixed threads a killed run continues to the same weights and the same metrics, except for
times.
"""

import gc
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from accelerate.utils import gather_object, is_tensorboard_available  # type: ignore[import-untyped]  # as above
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.files import write
from inspect_dining.scorers.terms import terms
from inspect_dining.table.record import Record
from inspect_dining.table.rules import episode_seed
from inspect_dining.training import engines, schedule, selection
from inspect_dining.training.alarms import FATAL, Alarm, alarms
from inspect_dining.training.curriculum import Curriculum
from inspect_dining.training.held_out import step_row
from inspect_dining.training.keep import checkpoints
from inspect_dining.training.keep.run_directory import MetricsRow, RunDir, State
from inspect_dining.training.learn.objective import Group
from inspect_dining.training.play import loading, sharding, strangers
from inspect_dining.training.play.rollouts import Play, Rollout
from inspect_dining.training.play.sharding import Shards
from inspect_dining.training.protocols import LearnerState, Lesson
from inspect_dining.training.recipe import TINY, Recipe


class Watcher(Protocol):
    """A receiver of a run's progress."""

    def line(self, text: str) -> None:
        """Something happened."""

    def step(self, row: MetricsRow, total: int) -> None:
        """A step ended."""


class Run:
    """One training run in its directory.

    Attributes:
        recipe: Its recipe.
        dir: Its directory.
    """

    def __init__(
        self, recipe: Recipe, directory: RunDir, watcher: Watcher, *, resume: bool = False, accept: bool = False
    ) -> None:
        """Prepares a new run, or one to continue.

        Args:
            recipe: Its recipe.
            directory: Its directory, which this process locks from now on.
            watcher: Receives its progress.
            resume: Whether it continues from its saved state.
            accept: Whether it may continue with a recipe that has changed since.

        Raises:
            BadInput: The directory, the model or the recipe do not allow it.
        """
        self.recipe, self.dir, self.watcher = recipe, directory, watcher
        engines.check(recipe, int(os.environ.get("WORLD_SIZE", "1")))
        if recipe.tensorboard and not is_tensorboard_available():
            raise BadInput("tensorboard=true needs TensorBoard: pip install tensorboard, or leave it out.")
        self.accelerator = Accelerator(
            cpu=not torch.cuda.is_available(),
            mixed_precision="bf16" if recipe.dtype == "bfloat16" else "no",
            log_with="tensorboard" if recipe.tensorboard else None,
            project_dir=str(directory.path),
        )
        self.chief = self.accelerator.is_main_process
        if self.chief and not resume:
            directory.start(recipe)
        elif self.chief:
            directory.lock()
            for note in directory.check(recipe, accept):
                watcher.line(note)
        self.accelerator.wait_for_everyone()
        model, self.tokenizer = self._model()
        self.model = loading.with_adapters(model, recipe)
        shards = Shards(self.model, self.accelerator) if sharding.wanted() else None
        if shards is None:
            self.model.to(self.accelerator.device)
        self.dinner = loading.dinner(self.model, self.tokenizer, recipe)
        self.dinner.policy.shards = shards
        parts = engines.Parts(
            recipe, directory.path, self._base(), self.dinner, self.tokenizer, self.accelerator, watcher.line
        )
        self.actor, self.learner = engines.choose_actor(parts), engines.choose_learner(parts)
        self.first = loading.trained_state(self.model) if recipe.restarts else {}
        self.reward = recipe.reward()
        self.curriculum = Curriculum(recipe.stages, recipe.fall_back)
        self.done, self.restarts, self.since = 0, 0, 0
        self.rows: list[MetricsRow] = []
        self._go_on()
        if recipe.tensorboard:
            self.accelerator.init_trackers("tensorboard")

    def _model(self) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        """The base model: loaded, or, for `tiny`, built and schooled once and kept in the run directory."""
        recipe = self.recipe
        if recipe.model != TINY:
            return loading.load(recipe.model, recipe.dtype)
        if not (self.dir.base / loading.WHOLE).is_file():
            if self.chief:
                from inspect_dining.training.tiny.base import build_base

                build_base(recipe, self.dir.base, self.watcher.line)
            self.accelerator.wait_for_everyone()
        return loading.load(str(self.dir.base), recipe.dtype)

    def _go_on(self) -> None:
        """Restores the state of a killed run."""
        state = self.dir.state()
        if state is None:
            if self.chief:
                self.dir.cut(0)
                (self.dir.path / "selection.jsonl").unlink(missing_ok=True)
            return
        self._fits(state["weights"])
        loading.set_trained_state(self.model, state["weights"])
        self.learner.load_state(LearnerState(optimizer=state["optimizer"], credit=state.get("credit", {})))
        done = self.done = state["step"]
        self.restarts, self.since = state["restarts"], state["since"]
        if self.chief:
            self.dir.cut(done)
        self.accelerator.wait_for_everyone()
        for row in self.dir.rows("metrics.jsonl", done):
            self.rows.append(row)
            if row["step"] >= self.since:
                self._advance()
        self.watcher.line(f"Going on after step {done}.")

    def _fits(self, weights: dict[str, torch.Tensor]) -> None:
        """Refuses the weights of another model.

        Raises:
            BadInput: Names or shapes differ from those of the trained weights here.
        """
        here = {name: p.shape for name, p in self.model.named_parameters() if p.requires_grad}
        if here != {name: weight.shape for name, weight in weights.items()}:
            odd = next(name for name, weight in weights.items() if here.get(name) != weight.shape)
            raise BadInput(
                f"The state in {self.dir.path} is of another model than {self.recipe.model} with lora_rank "
                f"{self.recipe.lora_rank}: {odd} has the shape {[*weights[odd].shape]}; start a new run."
            )

    def train(self) -> None:
        """Takes the remaining steps."""
        # Models and libraries stay in memory; scanning them for garbage took a tenth of a step.
        gc.collect()
        gc.freeze()
        try:
            if self.done < self.recipe.steps:
                self._begin()
            self._steps()
        finally:
            gc.unfreeze()
            self.actor.close()
            self.learner.close()
        self.accelerator.end_training()

    def _begin(self) -> None:
        """Starts the engines from the current weights."""
        self.learner.begin(self.done, self.restarts)
        self.actor.begin(self.learner.url)

    def _steps(self) -> None:
        if self.done == 0:
            self._checkpoint(0)
        while self.done < self.recipe.steps:
            row = self._step(self.done)
            raised = alarms(self.rows[self.since :])
            if self.chief:
                self.dir.append("metrics.jsonl", row)
                self.watcher.step(row, self.recipe.steps)
                for alarm in raised:
                    self.watcher.line(f"Alarm at step {self.done}: {alarm}.")
            self.accelerator.log(row, step=self.done)
            self.done += 1
            if FATAL & set(raised) and self.restarts < self.recipe.restarts:
                self._restart(raised)
            if self.done % self.recipe.checkpoint_every == 0 or self.done == self.recipe.steps:
                self._checkpoint(self.done)
            if self.done % self.recipe.save_every == 0 or self.done == self.recipe.steps:
                self._save()

    def _step(self, step: int) -> MetricsRow:
        """Plays games, computes rewards, learns, and returns the metrics of the step."""
        started = time.perf_counter()
        games = self._games(step)
        episodes, played = self.actor.play(step, [play for group in games.values() for play in group])
        seconds_played = time.perf_counter() - started
        groups = self._groups(step, games, episodes)
        learned = self.learner.learn(self._lesson(step, groups))
        records: list[Record] = gather_object([episode.record for episode in episodes])
        row = {
            **step_row(records, self.reward),
            "step": step,
            "stage": self.curriculum.stage,
            "prompts": len({turn.prompt for episode in episodes for turn in episode.turns}),
            "rate": schedule.rate(self.recipe, step, self.restarts),
            "restarts": self.restarts,
            **learned,
            "seconds_played": seconds_played,
            "seconds": time.perf_counter() - started,
            **played,
        }
        if self.chief:
            self.dir.keep_records(step, records)
        self.rows.append(row)
        self._advance()
        return row

    def _games(self, step: int) -> dict[int, list[Play]]:
        """The games of this process: for each of its groups, one per episode of the group."""
        recipe, rank = self.recipe, self.accelerator.process_index
        sizes = self.curriculum.games(recipe.groups)
        return {
            g: [
                Play(
                    recipe.rules(*sizes[g]),
                    episode_seed("train", f"{recipe.seed}/{step}/{g}"),
                    f"{recipe.seed}/{step}/{g}/{member}",
                    strangers.mirrored(recipe, step, g, sizes[g][0]),
                    strangers.partners(recipe, step, g, sizes[g][0]),
                    member + 1,
                )
                for member in range(recipe.episodes)
            ]
            for g in range(rank, recipe.groups, self.accelerator.num_processes)
        }

    def _groups(self, step: int, games: dict[int, list[Play]], episodes: Sequence[Rollout]) -> list[Group]:
        """The groups with their rewards."""
        left, groups = iter(episodes), []
        for g, plays in games.items():
            some = tuple(next(left) for _ in plays)
            rewards = tuple(self._rewarded(play, episode) for play, episode in zip(plays, some, strict=True))
            groups.append(Group(f"{step}/{g}", some, rewards))
        return groups

    def _lesson(self, step: int, groups: Sequence[Group]) -> Lesson:
        """The learner's input, with the current values of the schedules."""
        recipe, rows = self.recipe, self.rows[self.since :]
        return Lesson(
            step,
            groups,
            rate=schedule.rate(recipe, step, self.restarts),
            entropy=schedule.entropy(recipe, rows, self.since),
            diversity=schedule.diversity(recipe, step, self.since),
            explore=schedule.explore(recipe, step, self.since),
        )

    def _rewarded(self, play: Play, episode: Rollout) -> float:
        """An episode's reward; if it is not finite, the run stops and names the episode."""
        try:
            return self.reward(terms(episode.record))
        except ValueError as error:
            raise BadInput(f"Training stops at episode {play.key} (run/step/group/member): {error}") from None

    def _advance(self) -> None:
        rows = self.rows[self.since :]
        self.curriculum.step([row["deadlock"] for row in rows], [row["efficiency"] for row in rows])

    def _restart(self, raised: Sequence[Alarm]) -> None:
        """Returns to the first weights and games at half the rate; steps already taken still count."""
        self.restarts += 1
        self.since = self.done
        self.curriculum = Curriculum(self.recipe.stages, self.recipe.fall_back)
        loading.set_trained_state(self.model, self.first)
        self.learner.forget()
        self._begin()
        self.watcher.line(f"Restart {self.restarts} from the first weights at half the rate: {raised[0]}.")

    def _base(self) -> str:
        """The base model as another process can find it: a whole path, or a hub name."""
        base = self.dir.base if self.recipe.model == TINY else Path(self.recipe.model)
        return str(base.resolve()) if base.exists() else self.recipe.model

    def _save(self) -> None:
        if self.chief:
            state: State = {
                "step": self.done,
                "restarts": self.restarts,
                "since": self.since,
                "weights": loading.trained_state(self.model),
                **self.learner.state(),
            }
            self.dir.save_state(state, self.recipe)
        self.accelerator.wait_for_everyone()

    def _checkpoint(self, step: int) -> None:
        """Writes a checkpoint, plays its selection games, and updates the links `best` and `last`."""
        if self.chief:
            checkpoints.save(self.dir.checkpoint(step), self.model, self.tokenizer, self.recipe, step)
        with self.dinner.policy.together():
            if self.chief:
                self.watcher.line(selection.select(self.dinner, self.recipe, self.dir, step))
        self.accelerator.wait_for_everyone()

    def test(self) -> selection.RunResult:
        """Plays the test games, once each, with the base model and with the result; in the main process."""
        choice = selection.choose(self.recipe, self.dir)
        tested = []
        for step in (0, choice.step):
            model, tokenizer = loading.load(str(self.dir.checkpoint(step)), self.recipe.dtype)
            table = loading.dinner(model.to(self.accelerator.device), tokenizer, self.recipe)
            tested.append(selection.play_tests(table, self.recipe, step))
        outcome = selection.RunResult(self.dir, choice, tested[0], tested[1], self.restarts)
        text = json.dumps(selection.table_of(outcome), indent=2) + "\n"
        write(self.dir.path / "table.json", text)
        return outcome
