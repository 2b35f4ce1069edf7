"""The whole table of arXiv 2606.07845 as an Inspect Flow spec: ten systems, 90 games each.

    pip install '.[flow]'
    flow run examples/paper_flow.py --arg players=scripted --arg episodes=1     # no key, no network
    flow run examples/paper_flow.py                                             # 270,000 calls at most
    flow check examples/paper_flow.py                                           # what is done and what is missing

Flow plays only what is missing from the log directory. `python -m inspect_dining models` says how each system is
served.
"""

from inspect_ai.model import GenerateConfig
from inspect_flow import FlowModel, FlowSpec, FlowTask

from inspect_dining.planning.presets import EPISODES, ROUNDS, SIZES, presets

SCRIPTED = ("dining/odd_even", "dining/left_first", "dining/silent")


def spec(players: str = "paper", episodes: int = EPISODES, rounds: int = ROUNDS) -> FlowSpec:
    """The spec.

    Args:
        players: `paper` for the ten systems, `scripted` for three players that need no model.
        episodes: Games of each table size.
        rounds: The horizon T.
    """
    ways = [system.ways[0] for system in presets().systems]
    paper = [
        FlowModel(
            name=way.model,
            base_url=way.url,
            config=GenerateConfig(extra_body=way.thinking_off) if way.thinking_off else None,
        )
        for way in ways
    ]
    models = paper if players == "paper" else [FlowModel(name=name) for name in SCRIPTED]
    args = {"n": list(SIZES), "episodes": episodes, "rounds": rounds}
    return FlowSpec(
        log_dir=f"logs/flow-{players}",
        tasks=[FlowTask(name="inspect_dining/philosophers", args=args, model=model) for model in models],
    )
