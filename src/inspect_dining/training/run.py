"""The run: play, reward, update; now and then a checkpoint with its selection games; at the end the held-out games.

Seeds: a game is keyed by (run, step, group), its sampling by (run, step, group, member, seat, round). Nothing else is
drawn, so that in one process with fixed threads a run that was killed goes on to the same weights and the same metrics,
times apart.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Protocol

import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from accelerate.utils import gather_object, is_tensorboard_available  # type: ignore[import-untyped]  # as above
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.scorers.terms import terms
from inspect_dining.table.record import Record
from inspect_dining.table.rules import episode_seed
from inspect_dining.training.alarms import FATAL, Alarm, alarms
from inspect_dining.training.curriculum import Curriculum, entropy_share
from inspect_dining.training.held_out import Cell, held_out, step_row
from inspect_dining.training.keep import checkpoints
from inspect_dining.training.keep.run_directory import Row, RunDir
from inspect_dining.training.learn import art_learner
from inspect_dining.training.learn.diversity import apart, first_replies
from inspect_dining.training.learn.learner import Learner, Update
from inspect_dining.training.learn.objective import Group, pairs, sampled
from inspect_dining.training.play import loading, vllm_rollouts
from inspect_dining.training.play.rollouts import Dinner, Episode, Play
from inspect_dining.training.recipe import TINY, Recipe


class Watcher(Protocol):
    """Whoever is told how the run goes."""

    def line(self, text: str) -> None:
        """Something happened."""

    def step(self, row: Row, total: int) -> None:
        """A step ended."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to.

    Attributes:
        run: Its directory.
        choice: Which checkpoint is the result, and why.
        before: Held-out games of the base model.
        after: Held-out games of the result.
        restarts: How often it started again.
    """

    run: RunDir
    choice: checkpoints.Choice
    before: list[Cell]
    after: list[Cell]
    restarts: int


class Run:
    """One training run in its directory.

    Attributes:
        recipe: Its recipe.
        dir: Its directory.
    """

    def __init__(self, recipe: Recipe, directory: RunDir, watcher: Watcher, *, resume: bool = False) -> None:
        """Prepares a new run, or one that goes on.

        Raises:
            BadInput: The directory, the model or the recipe do not allow it.
        """
        self.recipe, self.dir, self.watcher = recipe, directory, watcher
        self.art: art_learner.Art | None = None
        self.served: vllm_rollouts.Rollouts | None = None
        processes = int(os.environ.get("WORLD_SIZE", "1"))
        if recipe.learner == "art":
            art_learner.check(recipe, processes)
        vllm_rollouts.check(recipe, processes)
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
        self.accelerator.wait_for_everyone()
        model, self.tokenizer = self._model()
        self.model = loading.with_adapters(model, recipe).to(self.accelerator.device)
        self.dinner = loading.dinner(self.model, self.tokenizer, recipe)
        self.learner = Learner(
            self.dinner.policy, self.accelerator, cap=recipe.cap, clip=recipe.clip, micro_tokens=recipe.micro_tokens
        )
        self.first = loading.trained_state(self.model) if recipe.restarts else {}
        self.reward = recipe.reward()
        self.curriculum = Curriculum(recipe.stages, recipe.fall_back)
        self.done, self.restarts, self.since = 0, 0, 0
        self.rows: list[Row] = []
        self._go_on()
        if recipe.tensorboard:
            self.accelerator.init_trackers("tensorboard")

    def _model(self) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        """The base model: loaded, or for `tiny` built and taught once and kept in the run directory."""
        recipe = self.recipe
        if recipe.model != TINY:
            return loading.load(recipe.model, recipe.dtype)
        if not (self.dir.base / loading.WHOLE).is_file():
            if self.chief:
                tiny_base(recipe, self.dir.base, self.watcher)
            self.accelerator.wait_for_everyone()
        return loading.load(str(self.dir.base), recipe.dtype)

    def _go_on(self) -> None:
        """Takes up the state of a run that was killed."""
        state = self.dir.state()
        if state is None:
            if self.chief:
                self.dir.cut(0)
                (self.dir.path / "selection.jsonl").unlink(missing_ok=True)
            return
        loading.set_trained_state(self.model, state["weights"])
        self.learner.optimizer.load_state_dict(state["optimizer"])
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

    def train(self) -> None:
        """Takes the steps that are left."""
        if self.recipe.learner == "art" and self.done < self.recipe.steps:
            self._start_art()
            for line in art_learner.differences(self.recipe):
                self.watcher.line(line)
        try:
            if self.recipe.rollouts == "vllm" and self.done < self.recipe.steps:
                self._serve()
            self._steps()
        finally:
            if self.served is not None:
                self.served.close()
            if self.art is not None:
                self.art.close()
        self.accelerator.end_training()

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

    def _step(self, step: int) -> Row:
        recipe, started = self.recipe, time.perf_counter()
        rank, processes = self.accelerator.process_index, self.accelerator.num_processes
        games = self.curriculum.games(recipe.groups)
        mine = [g for g in range(recipe.groups) if g % processes == rank]
        plays = [
            Play(
                recipe.rules(*games[g]),
                episode_seed("train", f"{recipe.seed}/{step}/{g}"),
                f"{recipe.seed}/{step}/{g}/{member}",
            )
            for g in mine
            for member in range(recipe.episodes)
        ]
        probed = self.served.renew(step) if self.served is not None else {}
        episodes = (self.dinner if self.served is None else self.served.dinner).play(plays)
        played = time.perf_counter()
        rewards = [self._rewarded(play, episode) for play, episode in zip(plays, episodes, strict=True)]
        groups = [self._group(f"{step}/{g}", episodes, rewards, i * recipe.episodes) for i, g in enumerate(mine)]
        weighed = pairs(
            groups,
            planned=recipe.groups,
            weighting=recipe.weighting,
            spread=recipe.spread,
            turn_baseline=recipe.turn_baseline,
            anchor=recipe.anchor,
        )
        all_records: list[Record] = gather_object([episode.record for episode in episodes])
        dead: list[bool] = gather_object([group.dead for group in groups])
        rate, entropy = self.rate(step), self.entropy() if self.art is None else 0.0
        made: list[Update] = []
        if self.art is not None:
            made += [self.art.update(step, groups, rate)] if not all(dead) else []
        elif not all(dead):
            bonus = self.diversity()
            pulled = apart(groups, gather_object(first_replies(groups)), recipe.groups, bonus) if bonus else None
            for number in range(recipe.updates):
                key = f"{recipe.seed}/{step}/{number}/{rank}"
                some = sampled(weighed, recipe.pairs // processes, key, entropy) if recipe.pairs else weighed
                made.append(self.learner.update(some, rate, entropy, pulled))
        row = step_row(all_records, self.reward)
        row |= {
            "step": step,
            "stage": self.curriculum.stage,
            "dead_groups": fmean(dead),
            "prompts": len({turn.prompt for episode in episodes for turn in episode.turns}),
            "pairs": len(weighed),
            "gradient": fmean(u.gradient for u in made) if made else 0.0,
            "entropy": made[0].entropy if made else 0.0,
            "off": made[0].off if made else 0.0,
            "rate": rate,
            "entropy_coefficient": entropy,
            "restarts": self.restarts,
            "seconds_played": played - started,
            "seconds": time.perf_counter() - started,
            **probed,
        }
        if made and made[0].information is not None:
            row["information"] = made[0].information
        if self.art is not None:
            del row["off"]  # which ART does not tell
        if self.chief:
            self.dir.keep_records(step, all_records)
        self.rows.append(row)
        self._advance()
        return row

    def _rewarded(self, play: Play, episode: Episode) -> float:
        """An episode's reward; one that is no finite number stops the run and is named."""
        try:
            return self.reward(terms(episode.record))
        except ValueError as error:
            raise BadInput(f"Training stops at episode {play.key} (run/step/group/member): {error}") from None

    def _group(self, name: str, episodes: Sequence[Episode], rewards: Sequence[float], start: int) -> Group:
        part = slice(start, start + self.recipe.episodes)
        return Group(name, tuple(episodes[part]), tuple(rewards[part]))

    def _advance(self) -> None:
        rows = self.rows[self.since :]
        self.curriculum.step([row["deadlock"] for row in rows], [row["efficiency"] for row in rows])

    def rate(self, step: int) -> float:
        """Adam's rate at a step: it falls geometrically, and is halved by every restart."""
        recipe = self.recipe
        fallen: float = (recipe.rate_last / recipe.rate) ** (step / recipe.steps)
        return float(recipe.rate * fallen * 0.5**self.restarts)

    def entropy(self) -> float:
        """The entropy coefficient now (see `curriculum.entropy_share`)."""
        recipe = self.recipe
        if not recipe.entropy:
            return 0.0
        rows, left = self.rows[self.since :], recipe.steps - self.since
        begun = round(recipe.entropy_from * left)
        return recipe.entropy * entropy_share(
            [row["efficiency"] for row in rows],
            [int(row["stage"]) for row in rows],
            begun=begun,
            ramp=max(1, left - begun),
        )

    def diversity(self) -> float:
        """What the seats are paid for acting apart: it falls steadily to 0."""
        recipe, gone = self.recipe, (self.done - self.since) / (self.recipe.steps - self.since)
        return recipe.diversity * max(0.0, 1 - gone / recipe.diversity_until)

    def _restart(self, raised: Sequence[Alarm]) -> None:
        """Goes back to the first weights and games with half the rate; steps already taken are not given back."""
        self.restarts += 1
        self.since = self.done
        self.curriculum = Curriculum(self.recipe.stages, self.recipe.fall_back)
        loading.set_trained_state(self.model, self.first)
        self.learner.optimizer.state.clear()
        if self.art is not None:
            self._start_art()
            if self.served is not None:
                self._serve()
        self.watcher.line(f"Restart {self.restarts} from the first weights at half the rate: {raised[0]}.")

    def _start_art(self) -> None:
        """Starts OpenPipe ART from the adapters as they are now, in place of one that runs."""
        if self.art is not None:
            self.art.close()
        folder, policy = self.dir.path / "art", self.dinner.policy
        self.art = art_learner.Art(
            self.recipe, self._base(), folder, policy, self.tokenizer, step=self.done, restarts=self.restarts
        )

    def _serve(self) -> None:
        """Starts vLLM, or asks the server that ART has started."""
        if self.served is not None:
            self.served.close()
        recipe = self.recipe
        if self.art is not None and self.art.url and recipe.vllm_url is None and recipe.art_backend != "serverless":
            recipe = recipe.model_copy(update={"vllm_url": self.art.url})
        self.served = vllm_rollouts.Rollouts(
            recipe,
            self.dir.path,
            self._base(),
            self.dinner.policy,
            self.tokenizer,
            self.accelerator,
            self.watcher.line,
        )

    def _base(self) -> str:
        """The base model as another process finds it: a whole path, or a hub name."""
        base = self.dir.base if self.recipe.model == TINY else Path(self.recipe.model)
        return str(base.resolve()) if base.exists() else self.recipe.model

    def _save(self) -> None:
        if self.chief:
            self.dir.save_state({
                "step": self.done,
                "restarts": self.restarts,
                "since": self.since,
                "weights": loading.trained_state(self.model),
                "optimizer": self.learner.optimizer.state_dict(),
            })
        self.accelerator.wait_for_everyone()

    def _checkpoint(self, step: int) -> None:
        """Writes a checkpoint, plays its selection games, and points `best` and `last` at what they are now."""
        if self.chief:
            recipe, path = self.recipe, self.dir.checkpoint(step)
            checkpoints.save(path, self.model, self.tokenizer, recipe, step)
            cells = held_out(
                self.dinner,
                recipe,
                "select",
                recipe.select_sizes,
                recipe.select_rounds,
                recipe.select_episodes,
                f"{recipe.seed}/{step}",
            )
            meals = fmean(cell.numbers["meals"] * cell.n for cell in cells)
            found = checkpoints.candidate(step, [cell.rewards for cell in cells], meals, checkpoints.weights_hash(path))
            self.dir.append("selection.jsonl", found.to_dict())
            checkpoints.point(self.dir.last, path)
            self.settle()
            shown = ", ".join(
                f"n={cell.n} {'greedy' if cell.greedy else 'sampled'}: deadlock {cell.numbers['deadlock']:.2f}"
                f" efficiency {cell.numbers['efficiency']:.2f}"
                for cell in cells
            )
            self.watcher.line(f"Checkpoint {step}: {found.mean:.3f} +- {found.error:.3f} ({shown})")
        self.accelerator.wait_for_everyone()

    def settle(self) -> None:
        """Points `best` at the checkpoint that the recipe keeps, of those that there are, and writes why."""
        choice, last = self.choice(), int(self.dir.rows("selection.jsonl")[-1]["step"])
        checkpoints.point(self.dir.best, self.dir.checkpoint(choice.step))
        checkpoints.write_text(
            self.dir.path / "choice.json",
            json.dumps({"step": choice.step, "reason": choice.reason, "last": last}, indent=2) + "\n",
        )

    def choice(self) -> checkpoints.Choice:
        """Which checkpoint is the result so far, by the recipe's way to keep one."""
        found = [
            checkpoints.Candidate(int(row["step"]), row["mean"], row["error"], row["meals"], str(row["hash"]))
            for row in self.dir.rows("selection.jsonl")
        ]
        if self.recipe.keep == "last":
            return checkpoints.Choice(found[-1].step, "The recipe keeps the last checkpoint.")
        return checkpoints.choose(found)

    def test(self) -> Outcome:
        """Plays the test games, once each, with the base model and with the result; in the main process."""
        choice = self.choice()
        tested = []
        for step in (0, choice.step):
            model, tokenizer = loading.load(str(self.dir.checkpoint(step)), self.recipe.dtype)
            table = loading.dinner(model.to(self.accelerator.device), tokenizer, self.recipe)
            tested.append(tests(table, self.recipe, step))
        outcome = Outcome(self.dir, choice, tested[0], tested[1], self.restarts)
        checkpoints.write_text(self.dir.path / "table.json", json.dumps(table_of(outcome), indent=2) + "\n")
        return outcome


def tests(dinner: Dinner, recipe: Recipe, step: int) -> list[Cell]:
    """The test games of a recipe."""
    key = f"{recipe.seed}/{step}"
    return held_out(dinner, recipe, "test", recipe.test_sizes, recipe.test_rounds, recipe.test_episodes, key)


def table_of(outcome: Outcome) -> dict[str, object]:
    """The before/after table as plain values."""
    return {
        "choice": {"step": outcome.choice.step, "reason": outcome.choice.reason},
        "restarts": outcome.restarts,
        **{
            name: [{"n": cell.n, "play": "greedy" if cell.greedy else "sampled", **cell.numbers} for cell in cells]
            for name, cells in (("before", outcome.before), ("after", outcome.after))
        },
    }


def tiny_base(recipe: Recipe, path: Path, watcher: Watcher) -> None:
    """Builds and teaches the tiny model of a recipe and keeps it; the same recipe seed gives the same weights."""
    from inspect_dining.training.tiny.model import tiny_model, tiny_tokenizer
    from inspect_dining.training.tiny.schooling import school

    tokenizer = tiny_tokenizer(recipe.rules(5, 30))
    model = tiny_model(tokenizer, recipe.seed)
    watcher.line(f"Building a tiny Qwen3 of {sum(p.numel() for p in model.parameters()):,} random parameters.")
    school(loading.dinner(model, tokenizer, recipe), seed=recipe.seed, hint=recipe.hint, told=watcher.line)

    def fill(folder: Path) -> None:
        model.save_pretrained(str(folder))
        tokenizer.save_pretrained(str(folder))

    checkpoints.write_folder(path, fill)
