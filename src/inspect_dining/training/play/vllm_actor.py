"""The actor that plays with vLLM: replies by token ids, from the current adapters.

Before every step the adapters are saved, loaded under a new name, and probed; the old ones are
unloaded. So no reply can come from weights of another step: a server without the step's name refuses it.

Every request states how it samples, so defaults of the server or the model do not apply. A request has one prompt and
as many replies as rows need it. The seed, keyed by the rows, belongs to a request; several prompts in one request would
draw the same numbers, so seats would move in step.
"""

import shlex
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from hashlib import blake2b
from pathlib import Path
from statistics import fmean
from uuid import uuid4

import torch
from accelerate import Accelerator  # type: ignore[import-untyped]  # it ships no types
from accelerate.utils import broadcast_object_list  # type: ignore[import-untyped]  # as above
from transformers import PreTrainedTokenizerBase

from inspect_dining.errors import BadInput
from inspect_dining.files import write, write_folder
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.table.game import Game
from inspect_dining.training.play.loading import ADAPTER, read_text
from inspect_dining.training.play.policy import Policy, Reply
from inspect_dining.training.play.rollouts import Dinner, Play, Rollout
from inspect_dining.training.play.vllm_client import Client, no_news
from inspect_dining.training.play.vllm_server import Server, served_template
from inspect_dining.training.recipe import TINY, Recipe, size

PROBED = 4
"""The number of replies to each prompt of a probe."""
LEAST = 1e-3
"""The mean difference of log-probabilities per token that always counts as rounding."""
LIMIT = 0.1
"""The mean difference of log-probabilities per token above which the server must be using other weights."""


class ServedPolicy(Policy):
    """A policy whose replies come from vLLM; log-probabilities are recomputed by the model here.

    Attributes:
        client: The servers.
        name: The name of the adapters in use.
    """

    def __init__(self, policy: Policy, client: Client) -> None:
        """Takes the policy being trained."""
        super().__init__(policy.model, policy.prompts, stops=sorted(policy.stops), max_tokens=policy.max_tokens)
        self.client = client
        self.name = ""

    def sample(self, prompts: Sequence[Ids], rows: Sequence[tuple[int, str | None]]) -> list[Reply]:
        """Samples a reply for every row, as `Policy.sample` does."""
        wanted: dict[tuple[int, bool], list[int]] = {}
        for place, (number, key) in enumerate(rows):
            wanted.setdefault((number, key is None), []).append(place)
        asked = [
            (prompts[number], 1 if greedy else len(places), None if greedy else _seed(str(rows[places[0]][1])))
            for (number, greedy), places in wanted.items()
        ]
        found = self.client.replies(self.name, asked, max_tokens=self.max_tokens, stops=sorted(self.stops))
        replies: dict[int, Reply] = {}
        for ((_, greedy), places), some in zip(wanted.items(), found, strict=True):
            replies.update(zip(places, some * len(places) if greedy else some, strict=True))
        return [replies[place] for place in range(len(rows))]


def _seed(key: str) -> int:
    """A seed of 62 bits; vLLM adds the reply's number to it."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big") >> 2


def check(recipe: Recipe, processes: int = 1) -> None:
    """Checks early whether vLLM can play a recipe's games.

    Args:
        recipe: The recipe.
        processes: The number of training processes.

    Raises:
        BadInput: It cannot.
    """
    if recipe.rollouts != "vllm":
        given = [key for key in ("vllm_url", "vllm_python", "vllm_args") if getattr(recipe, key)]
        if given:
            raise BadInput(f"{given[0]} is for games that vLLM plays; give --rollouts vllm with it, or leave it out.")
        return
    wrong = None
    if recipe.lora_rank < 1:
        wrong = "vLLM loads the trained weights as LoRA adapters, so --rollouts vllm needs --lora-rank 1 or more."
    elif recipe.dtype == "float64":
        wrong = "vLLM does not compute in float64; with --rollouts vllm give --dtype float32 or bfloat16."
    elif recipe.vllm_url and (recipe.vllm_python or recipe.vllm_args):
        wrong = "--vllm-url names a server that runs; --vllm-python and --vllm-args are for one that is started here."
    elif processes > 1 and not recipe.vllm_url:
        wrong = "Only a single process starts its own server; start one yourself and give all processes its --vllm-url."
    elif recipe.model == TINY and not torch.cuda.is_available():
        wrong = (
            "On a CPU vLLM has no attention for heads of width 16, which the tiny model has; play its games by "
            "--rollouts local, or train a model whose heads are 32 wide or more."
        )
    elif (Path(recipe.model) / ADAPTER).is_file():
        wrong = f"{recipe.model} holds adapters; --rollouts vllm needs a whole model to put new ones on."
    if wrong:
        raise BadInput(wrong)
    _words(recipe.vllm_args)


def _words(arguments: str) -> list[str]:
    """Splits a command line into words."""
    try:
        return shlex.split(arguments)
    except ValueError as error:
        raise BadInput(f"--vllm-args {arguments!r} is not read as a command line: {error}.") from None


class ServedDinner:
    """A table played by vLLM, from one start to its end.

    Attributes:
        dinner: The dinner that plays with the adapters of the latest step.
    """

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        model: str,
        policy: Policy,
        tokenizer: PreTrainedTokenizerBase,
        accelerator: Accelerator,
        tell: Callable[[str], None],
    ) -> None:
        """Starts a server, or uses those that the recipe names.

        Args:
            recipe: The recipe.
            folder: The run directory.
            model: The base model's folder or hub name.
            policy: The policy being trained.
            tokenizer: Its tokenizer.
            accelerator: Connects the processes; the main one loads adapters.
            tell: Receives messages about progress.

        Raises:
            BadInput: The server does not start.
        """
        self._adapters, self._accelerator = folder / "adapters", accelerator
        self._ends = ExitStack()
        self._loaded: str | None = None
        self._floor = 0.0
        self._before: tuple[list[tuple[Ids, Ids]], list[float]] = [], []
        # A server that outlives a run must not confuse another run's adapters with this one's.
        (self._run,) = broadcast_object_list([uuid4().hex[:8]])
        urls, alive, key = str(recipe.vllm_url).split(","), no_news, None
        if accelerator.is_main_process:
            self._ends.callback(shutil.rmtree, self._adapters, ignore_errors=True)
        try:
            if recipe.vllm_url is None:
                tell(f"Starting vLLM; its output goes to {folder / 'vllm.log'}.")
                template = folder / "chat_template.jinja"
                write(template, served_template(tokenizer))
                server = Server(
                    model,
                    folder / "vllm.log",
                    python=recipe.vllm_python,
                    rank=recipe.lora_rank,
                    dtype=recipe.dtype,
                    template=template,
                    more=_words(recipe.vllm_args),
                )
                self._ends.enter_context(server)
                server.wait(tell)
                urls, alive, key = [server.url], server.alive, server.key
            self.client = Client(urls, alive, key)
            self._ends.callback(self.client.close)
            if recipe.vllm_url is not None and accelerator.is_main_process:
                self._ends.callback(self._unload)
            self.policy = ServedPolicy(policy, self.client)
            self.dinner = Dinner(self.policy, read_text, recipe.memory)
            game = Game(recipe.rules(*size(recipe.stages[0].games[0])), 0)
            self._probe = self.dinner.prompts([(game.rules, game.view(seat)) for seat in range(game.rules.n)])
        except BaseException:
            self.close()
            raise

    def renew(self, step: int) -> dict[str, float]:
        """Replaces the adapters on every server with the current ones.

        Args:
            step: The step whose games come next.

        Returns:
            The result of the probe: the distance of the server's log-probabilities from those of the local weights
            (`probe_off`), and the change of the weights' log-probabilities since the last probe (`probe_moved`), both
            as mean differences per token. A value of `off` well below `moved` proves that the new weights are in use.

        Raises:
            BadInput: The adapters were not loaded, or the server uses others.
        """
        folder, name, old = self._adapters / f"step-{step:04d}", f"dinner-{self._run}-{step}", self._loaded
        if self._accelerator.is_main_process:
            write_folder(folder, lambda inside: self.policy.model.save_pretrained(str(inside)))
            self.client.load(name, folder)
        self._accelerator.wait_for_everyone()
        self.policy.name = self._loaded = name
        if not self._accelerator.is_main_process:
            return {}
        found = self._probed(name)
        if old is not None:
            self.client.unload(old)
        for other in self._adapters.iterdir():
            if other != folder:
                shutil.rmtree(other)
        return found

    def _probed(self, name: str) -> dict[str, float]:
        """Compares the server's log-probabilities of its replies with those of the local weights."""
        rows = [(number, f"probe/{number}/{i}") for number in range(len(self._probe)) for i in range(PROBED)]
        replies = self.policy.sample(self._probe, rows)
        pairs = [(self._probe[number], reply.ids) for (number, _), reply in zip(rows, replies, strict=True)]
        ours, before = self._logps(pairs), self._before
        off = _apart([logp for reply in replies for logp in reply.logps], ours)
        moved = _apart(before[1], self._logps(before[0])) if before[0] else 0.0
        self._floor = self._floor or max(off, LEAST)
        if off > LIMIT or (moved > 4 * self._floor and off > moved / 2):
            raise BadInput(
                f"vLLM does not answer with the adapters {name}: its log-probabilities are {off:.2g} per token from "
                f"those of the local weights, which moved by {moved:.2g} since the last loading; it must serve the "
                "model that is trained, in the same precision."
            )
        self._before = pairs, ours
        return {"probe_off": off, "probe_moved": moved}

    def _logps(self, pairs: Sequence[tuple[Ids, Ids]]) -> list[float]:
        """The log-probability of every id of replies, by the local weights."""
        self.policy.model.train(False)
        with torch.no_grad():
            logps, _, exists = self.policy.logps(pairs)
        found: list[float] = logps[exists].tolist()
        return found

    def close(self) -> None:
        """Unloads the adapters, ends a server that was started here, and removes what was written for it."""
        self._ends.close()

    def _unload(self) -> None:
        """Restores a server to its original state; one that is gone has no adapters left."""
        if self._loaded is not None:
            with suppress(BadInput):
                self.client.unload(self._loaded)


def _apart(some: Sequence[float], others: Sequence[float]) -> float:
    """The mean absolute difference."""
    return fmean(abs(a - b) for a, b in zip(some, others, strict=True))


class VllmActor:
    """Plays a step's games with vLLM.

    Attributes:
        served: The table, between `begin` and `close`.
    """

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        model: str,
        policy: Policy,
        tokenizer: PreTrainedTokenizerBase,
        accelerator: Accelerator,
        tell: Callable[[str], None],
    ) -> None:
        """Takes the arguments of `ServedDinner`, and starts nothing yet."""
        self.served: ServedDinner | None = None
        self._recipe, self._folder, self._model = recipe, folder, model
        self._policy, self._tokenizer, self._accelerator, self._tell = policy, tokenizer, accelerator, tell

    def begin(self, url: str) -> None:
        """Starts vLLM, unless the recipe names servers or the learner serves the model already."""
        self.close()
        recipe = self._recipe
        if url and recipe.vllm_url is None:
            recipe = recipe.model_copy(update={"vllm_url": url})
        self.served = ServedDinner(
            recipe, self._folder, self._model, self._policy, self._tokenizer, self._accelerator, self._tell
        )

    def play(self, step: int, plays: Sequence[Play]) -> tuple[list[Rollout], dict[str, float]]:
        """Plays games with the current adapters, and returns the result of their probe."""
        if self.served is None:
            raise RuntimeError("begin() comes before play()")
        probed = self.served.renew(step)
        return self.served.dinner.play(plays), probed

    def close(self) -> None:
        """Ends the server, or restores its original state."""
        if self.served is not None:
            self.served.close()
            self.served = None
