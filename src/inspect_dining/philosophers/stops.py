"""Why a model stopped: the meaning of every provider's finish reasons.

Inspect maps the reasons of all providers to six and calls every other one `unknown`. An unknown reason may be a
failure, a full context or a filter, and silence caused by a failure is not the model's choice. The dinner therefore
takes the provider's own word from the raw reply, which Inspect's provider classes pass on, and looks it up here.
"""

from collections.abc import Mapping
from enum import StrEnum


class Stop(StrEnum):
    """Why a model stopped."""

    FINISHED = "finished"
    """It ended normally, or with its calls."""
    LENGTH = "length"
    """The reply's token limit cut it, or a guard against endless repetition did."""
    REFUSED = "refused"
    """The provider refused (content filter)."""
    OVERFLOW = "overflow"
    """The model's context overflowed: the dinner cuts the game, and the turn is not a lost turn."""
    MALFORMED = "malformed"
    """The provider could not read the call that the model wrote."""
    FAILED = "failed"
    """The provider failed or was stopped: an error of the episode, whatever preceded it."""
    UNKNOWN = "unknown"
    """The provider gave no reason, or an uninformative one: any content is read, and silence is an error."""


FINISH = "inspect_dining:finish_reason"
"""The key under which an output's metadata holds the provider's own word, if Inspect's is less specific."""
NOT_GIVEN = "not given"
"""Replaces the word of a provider class that never gives one (`hf/`, and others that run a model in this process)."""
NO_REASON = "no reason"
"""Replaces the word of a provider that gives one with every complete reply but gave none here."""

INSPECT: Mapping[str, Stop] = {
    "stop": Stop.FINISHED,
    "tool_calls": Stop.FINISHED,
    "max_tokens": Stop.LENGTH,
    "model_length": Stop.OVERFLOW,
    "content_filter": Stop.REFUSED,
}
"""The reasons of Inspect; its last one is `unknown`."""

WORDS: Mapping[str, Stop] = {
    # chat completions: OpenAI, and additions of vLLM, SGLang, OpenRouter, DeepSeek, Zhipu, Together and TGI
    **dict.fromkeys(("stop", "eos", "eos_token", "stop_sequence", "tool_calls", "function_call"), Stop.FINISHED),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "repetition"), Stop.LENGTH),
    **dict.fromkeys(("content_filter", "content_filtered", "sensitive", "safety", "refusal"), Stop.REFUSED),
    **dict.fromkeys(("model_length", "model_context_window_exceeded", "context_length_exceeded"), Stop.OVERFLOW),
    **dict.fromkeys(("error", "abort", "aborted", "cancelled", "canceled", "timeout", "time_limit"), Stop.FAILED),
    **dict.fromkeys(("insufficient_system_resource", "network_error", "server_error"), Stop.FAILED),
    # OpenAI's responses: their status
    "completed": Stop.FINISHED,
    **dict.fromkeys(("failed", "queued", "in_progress"), Stop.FAILED),
    **dict.fromkeys(("incomplete", "max_messages", "steered"), Stop.UNKNOWN),
    # Anthropic's messages, and Bedrock's converse
    **dict.fromkeys(("end_turn", "tool_use"), Stop.FINISHED),
    "guardrail_intervened": Stop.REFUSED,
    **dict.fromkeys(("malformed_tool_use", "malformed_model_output"), Stop.MALFORMED),
    # Google's
    "continuation": Stop.LENGTH,
    **dict.fromkeys(("recitation", "language", "blocklist", "prohibited_content", "spii"), Stop.REFUSED),
    **dict.fromkeys(("image_safety", "image_prohibited_content", "image_recitation"), Stop.REFUSED),
    **dict.fromkeys(("escalation", "model_armor"), Stop.REFUSED),
    **dict.fromkeys(("malformed_function_call", "unexpected_tool_call", "malformed_response"), Stop.MALFORMED),
    **dict.fromkeys(("missing_thought_signature", "no_image", "image_other", "pup_limited_disabled"), Stop.FAILED),
    **dict.fromkeys(("other", "finish_reason_unspecified", "too_many_tool_calls"), Stop.UNKNOWN),
    # xAI's
    **dict.fromkeys(("reason_stop", "reason_tool_calls"), Stop.FINISHED),
    "reason_max_len": Stop.LENGTH,
    "reason_max_context": Stop.OVERFLOW,
    **dict.fromkeys(("reason_time_limit", "reason_invalid"), Stop.FAILED),
    # Cohere's, which OpenRouter and others pass on
    "complete": Stop.FINISHED,
    "error_toxic": Stop.REFUSED,
    "error_limit": Stop.OVERFLOW,
    "user_cancel": Stop.FAILED,
    NO_REASON: Stop.UNKNOWN,
}
"""The words of the providers, in lower case; docs/models.md lists them by provider."""


def stop_of(reason: str, word: str | None = None) -> Stop:
    """Why a model stopped.

    Args:
        reason: Inspect's reason.
        word: The provider's own, or None if it is not known. It counts if Inspect's says nothing, or says that
            all went well.

    Returns:
        The meaning; `UNKNOWN` if neither is in a table.
    """
    known = INSPECT.get(reason, Stop.UNKNOWN)
    if word is None or known not in (Stop.UNKNOWN, Stop.FINISHED):
        return known
    return WORDS.get(word.strip().lower(), known)


def finish_word(response: object) -> str | None:
    """The provider's own finish reason in its raw reply, in any of the wire formats.

    Args:
        response: The reply's JSON as Inspect's provider class logged it.

    The word; `error` if the reply holds an error; `NO_REASON` if the word's place is empty, or Google sent no candidate
        (Inspect treats both as an ordinary end); None if there is no such place.
    """
    if not isinstance(response, Mapping):
        return None
    first = next((one for key in ("choices", "candidates", "outputs") if (one := _first(response.get(key)))), {})
    if _is_error(response.get("error")) or _is_error(first.get("error")):
        return "error"
    incomplete = response.get("incomplete_details")
    found = [
        *(held.get(key) for held in (first, response) for key in ("finish_reason", "finishReason")),
        *(held.get(key) for held in (first, response) for key in ("stop_reason", "stopReason")),
        incomplete.get("reason") if isinstance(incomplete, Mapping) else None,
        response.get("status") if response.get("object") == "response" else None,
    ]
    empty = any(key in first and first[key] is None for key in ("finish_reason", "finishReason"))
    nothing = NO_REASON if empty or ("candidates" in response and not response["candidates"]) else None
    return next((word for word in found if isinstance(word, str) and word), nothing)


def _first(found: object) -> Mapping[str, object]:
    """The first choice of a reply, by index, in Inspect's order."""
    choices = [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
    return min(choices, key=lambda one: index if isinstance(index := one.get("index"), int) else 0, default={})


def _is_error(found: object) -> bool:
    return found not in (None, "", {}, False)
