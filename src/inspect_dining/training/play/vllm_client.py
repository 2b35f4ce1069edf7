"""A client of vLLM's OpenAI-compatible server, by token ids: many concurrent requests, every response checked."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from math import isfinite
from pathlib import Path

import httpx
from pydantic import BaseModel, ValidationError

from inspect_dining.border import plain
from inspect_dining.errors import BadInput
from inspect_dining.philosophers.stops import Stop, stop_of
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.training.play.policy import Reply

REQUESTS = 64
"""The maximum concurrent requests, over all servers."""
ANSWERS_WITHIN_S = 1800.0
"""The timeout of a request in seconds."""
_CLAMPED = -9000.0
"""vLLM writes -9999 where a log-probability is minus infinity."""

WHOLE_DISTRIBUTION: Mapping[str, float] = {
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
"""The settings of a request in addition to its temperature, so that no default of server or model applies."""


def no_news() -> None:
    """The check of a server that was not started here: nothing is known."""


class _Logprobs(BaseModel):
    token_logprobs: list[float | None]


class _Choice(BaseModel):
    index: int
    finish_reason: str | None = None
    token_ids: list[int] | None = None
    prompt_token_ids: list[int] | None = None
    logprobs: _Logprobs | None = None


class _Completion(BaseModel):
    choices: list[_Choice]


class Client:
    """Calls one vLLM server, or several that serve the same model.

    Attributes:
        urls: The URLs of the servers.
    """

    def __init__(self, urls: Sequence[str], alive: Callable[[], None] | None = None, key: str | None = None) -> None:
        """Prepares a client, which opens connections when needed.

        Args:
            urls: The servers, with or without a final `/v1`.
            alive: Called when a request fails; raises the reason if a server is known to have died.
            key: Their API key; that of `VLLM_API_KEY` if None.
        """
        self.urls = [url.strip().rstrip("/").removesuffix("/v1") for url in urls]
        self._alive = alive or no_news
        key = key or os.environ.get("VLLM_API_KEY")
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(ANSWERS_WITHIN_S, connect=30),
            limits=httpx.Limits(max_connections=REQUESTS, max_keepalive_connections=REQUESTS),
            trust_env=False,
        )

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def load(self, name: str, folder: Path) -> None:
        """Loads adapters under a name, on every server; they are read from its own file system."""
        for url in self.urls:
            self._post(url, "/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(folder.resolve())})

    def unload(self, name: str) -> None:
        """Unloads the adapters of that name, on every server."""
        for url in self.urls:
            self._post(url, "/v1/unload_lora_adapter", {"lora_name": name})

    def replies(
        self, name: str, asked: Sequence[tuple[Ids, int, int | None]], *, max_tokens: int, stops: Sequence[int]
    ) -> list[list[Reply]]:
        """Samples replies, with many concurrent requests.

        Args:
            name: The adapters' name.
            asked: Prompts, each with the number of replies and their seed; None takes the likeliest token each time.
            max_tokens: The most tokens of a reply.
            stops: The ids that end a reply.

        Returns:
            The replies to each prompt.

        Raises:
            BadInput: A server does not answer, or not with ids and finite log-probabilities.
        """

        def one(job: tuple[str, tuple[Ids, int, int | None]]) -> list[Reply]:
            url, (prompt, number, seed) = job
            body = {
                **WHOLE_DISTRIBUTION,
                "model": name,
                "prompt": list(prompt),
                "n": number,
                "temperature": 0.0 if seed is None else 1.0,
                "seed": 0 if seed is None else seed,
                "max_tokens": max_tokens,
                "stop_token_ids": list(stops),
                "logprobs": 0,
                "return_token_ids": True,
                "skip_special_tokens": False,
                "add_special_tokens": False,
            }
            return _replies(self._post(url, "/v1/completions", body), prompt, number, stops)

        pool = ThreadPoolExecutor(REQUESTS)
        try:
            return list(pool.map(one, zip(cycle(self.urls), asked, strict=False)))
        finally:
            pool.shutdown(cancel_futures=True)

    def _post(self, url: str, path: str, body: Mapping[str, object]) -> httpx.Response:
        """Posts a request; any failure becomes a sentence."""
        try:
            response = self._http.post(url + path, json=body)
        except httpx.HTTPError as error:
            self._alive()
            raise BadInput(f"The vLLM server {url} does not answer ({type(error).__name__}: {error}).") from None
        if response.is_success:
            return response
        if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            self._alive()
        wrong = " ".join(response.text.split())[:300]
        if path.endswith("lora_adapter"):
            wrong += (
                "; adapters are changed at run time only by a server that was started with --enable-lora, a "
                "--max-lora-rank of at least lora_rank and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True, and that finds them "
                "under the same path as this process"
            )
        raise BadInput(f"The vLLM server {url} refuses {path} with status {response.status_code}: {wrong}.")


def _replies(response: httpx.Response, prompt: Ids, number: int, stops: Sequence[int]) -> list[Reply]:
    """The replies in a completion, checked."""
    where = f"The vLLM server {response.url.copy_with(path='')}"
    try:
        choices = sorted(_Completion.model_validate(response.json()).choices, key=lambda choice: choice.index)
    except (ValueError, ValidationError) as error:
        raise BadInput(f"{where} returned no valid completion: {' '.join(str(error).split())[:200]}.") from None
    if len(choices) != number:
        raise BadInput(f"{where} gave {len(choices)} replies where {number} were asked for.")
    replies = []
    for choice in choices:
        ids, found = choice.token_ids, choice.logprobs
        if not ids or choice.prompt_token_ids is None:
            raise BadInput(f"{where} sends no token ids (return_token_ids); vLLM 0.10.2 or later is needed.")
        if tuple(choice.prompt_token_ids) != prompt:
            raise BadInput(f"{where} read another prompt than it was sent; it must serve the model that is trained.")
        if stop_of("unknown", choice.finish_reason) not in (Stop.FINISHED, Stop.LENGTH):
            raise BadInput(
                f"{where} ended a reply with the finish reason {plain(repr(choice.finish_reason))}, which is neither "
                "stop nor length: nothing can be learned from it. See the server's log, then go on with --resume."
            )
        logps = [logp for logp in (found.token_logprobs if found else []) if logp is not None]
        if len(logps) != len(ids) or not all(isfinite(logp) and logp > _CLAMPED for logp in logps):
            raise BadInput(f"{where} sent no finite log-probability for each of the ids {ids}: {logps}.")
        replies.append(Reply(tuple(ids), tuple(logps), ids[-1] in stops))
    return replies
