"""Inspect's provider `dining/`: a scripted player by name, or a trained checkpoint as `dining/checkpoint`."""

from inspect_ai.model import GenerateConfig, ModelAPI, modelapi

from inspect_dining.providers.scripted import ScriptedAPI

CHECKPOINT = "checkpoint"
"""The name of the provider's only model that is not scripted."""
_PLAIN = GenerateConfig()


def _seat(
    model_name: str,
    base_url: str | None = None,
    api_key: str | None = None,
    config: GenerateConfig = _PLAIN,
    **model_args: object,
) -> ModelAPI:
    """Creates the model of a name: a trained checkpoint, or a scripted player."""
    if model_name == CHECKPOINT:
        from inspect_dining.providers.checkpoint import checkpoint_api

        return checkpoint_api(model_name, base_url, api_key, config, **model_args)
    return ScriptedAPI(model_name, base_url, api_key, config, **model_args)


@modelapi(name="dining")
def dining() -> type[ModelAPI]:
    """Registers the provider `dining/` with Inspect."""
    return _seat  # type: ignore[return-value]  # Inspect calls what it gets here; the name decides which class answers
