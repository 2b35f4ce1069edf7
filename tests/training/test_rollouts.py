"""A rollout is a game like any other: the same record and reward as under Inspect, whatever is played beside it."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, Model, get_model

from inspect_dining.analysis.inputs.collection import read
from inspect_dining.errors import BadInput
from inspect_dining.philosophers.tokens import Ids
from inspect_dining.scorers.shaping import SHAPINGS, reward
from inspect_dining.table import Record, Rules, episode_seed, replay, sample_id
from inspect_dining.table.moves import LOST
from inspect_dining.table.record import RECORD
from inspect_dining.tasks import philosophers
from inspect_dining.training.keep.checkpoints import weights_hash
from inspect_dining.training.play.loading import dinner, load, read_text
from inspect_dining.training.play.memory import Memory
from inspect_dining.training.play.policy import Policy, Reply
from inspect_dining.training.play.rollouts import Dinner, Play
from inspect_dining.training.recipe import Recipe

ROUNDS = 5


@pytest.fixture
def table(speaker: Path) -> Dinner:
    model, tokenizer = load(str(speaker), "float64")
    return dinner(model, tokenizer, Recipe())


def checkpoint(speaker: Path, temperature: float | None, **args: object) -> Model:
    config = GenerateConfig(temperature=temperature)
    given = {"path": str(speaker), "dtype": "float64", "max_tokens": 16, **args}
    return get_model("dining/checkpoint", config=config, memoize=False, **given)  # type: ignore[arg-type]  # model arguments of any kind


def evaluated(model: Model, tmp_path: Path, n: int, shaping: str = "paper", episodes: int = 2) -> EvalLog:
    task = philosophers(n=n, episodes=episodes, rounds=ROUNDS, shaping=shaping)
    (log,) = inspect_eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    return log


def records(log: EvalLog) -> list[Record]:
    return [Record.from_dict(sample.store[RECORD]) for sample in log.samples or []]


def games(n: int, episodes: int, key: str | None) -> list[Play]:
    rules = Rules(n=n, rounds=ROUNDS)
    return [
        Play(rules, episode_seed("test", sample_id(n, 0, e)), None if key is None else f"{key}/{e}")
        for e in range(episodes)
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shaping", SHAPINGS)
def test_a_greedy_game_is_the_same_in_training_and_under_inspect(
    shaping: str, table: Dinner, speaker: Path, tmp_path: Path
) -> None:
    """Training on another prompt, reading or reward than is evaluated makes another number rise than is reported."""
    log = evaluated(checkpoint(speaker, 0.0), tmp_path, 3, shaping)
    by_inspect = {r.seed: r for r in records(log)}
    by_rollout = {e.record.seed: e.record for e in table.play(games(3, 2, None))}
    assert by_rollout == by_inspect
    assert log.samples is not None
    scored = sorted(sample.scores["reward"].as_float() for sample in log.samples if sample.scores)
    assert scored == sorted(reward(record, shaping) for record in by_rollout.values())
    assert any(turn.reading.acts for record in by_rollout.values() for turn in replay(record)[0].turns)


@pytest.mark.slow
def test_sampled_games_under_inspect_repeat_and_differ_by_seed(speaker: Path, tmp_path: Path) -> None:
    """Chance keyed by arrival order would make a held-out number that nobody can get again."""
    one, two, other = (
        [r.rounds for r in records(evaluated(checkpoint(speaker, None, seed=s), tmp_path, 3, episodes=3))]
        for s in (1, 1, 2)
    )
    assert one == two
    assert one != other
    (player,) = {run.player for run in read([tmp_path]).runs}
    assert dict(player.settings) == {"dtype": "float64", "max_tokens": "16", "weights": weights_hash(speaker)}


def test_a_game_is_the_same_alone_and_among_others(table: Dinner) -> None:
    """A batch whose members leak into each other would change games with the size of a step."""
    crowd = table.play([*games(3, 4, "a"), *games(4, 3, "b")])
    for i, play in enumerate(games(3, 4, "a")):
        (alone,) = table.play([play])
        assert alone.record == crowd[i].record
        assert [t.reply.ids for t in alone.turns] == [t.reply.ids for t in crowd[i].turns]


def test_members_of_a_group_share_ties_and_not_replies(table: Dinner) -> None:
    rules, seed = Rules(n=5, rounds=8), 7
    played = table.play([Play(rules, seed, f"g/{member}") for member in range(6)])
    assert len({e.record.rounds for e in played}) > 1
    assert {e.record.seed for e in played} == {seed}


def test_every_turn_is_kept_with_what_was_said_and_whether_it_acts(table: Dinner) -> None:
    (episode,) = table.play(games(4, 1, "k"))
    turns = [turn for round in replay(episode.record) for turn in round.turns]
    assert len(turns) == len(episode.turns)
    for turn, said in zip(turns, episode.turns, strict=True):
        assert said.acts == turn.reading.acts
        assert (
            read_text(table.policy.prompts.reply(said.reply.ids, table.policy.stops), not said.reply.ended)
            == turn.reading
        )


def test_an_unschooled_model_loses_its_turns_and_no_game_breaks(seated: Dinner) -> None:
    """Garbage must be read as lost turns, never as an error or as an action."""
    records: list[Record] = [e.record for e in seated.play(games(3, 3, "k"))]
    kinds = {turn.reading.kind for record in records for round in replay(record) for turn in round.turns}
    assert kinds <= set(LOST)


def test_the_provider_refuses_what_it_cannot_keep(speaker: Path, tmp_path: Path) -> None:
    from inspect_dining.providers.checkpoint import checkpoint_api

    plain = GenerateConfig()
    with pytest.raises(BadInput, match="needs the folder of a checkpoint; give -M path="):
        checkpoint_api("checkpoint", None, None, plain)
    with pytest.raises(BadInput, match="does not know paht"):
        checkpoint_api("checkpoint", None, None, plain, path=str(speaker), paht="x")
    with pytest.raises(BadInput, match=r"holds no model: neither config\.json nor adapter_config\.json"):
        checkpoint_api("checkpoint", None, None, plain, path=str(tmp_path))
    with pytest.raises(BadInput, match="dtype='half' is not known"):
        checkpoint_api("checkpoint", None, None, plain, path=str(speaker), dtype="half")


@pytest.mark.slow
def test_another_temperature_is_an_error_and_no_score(speaker: Path, tmp_path: Path) -> None:
    """A temperature that is quietly ignored would stand in the log as if it had been used."""
    task = philosophers(n=2, episodes=1, rounds=3)
    (log,) = inspect_eval(task, model=checkpoint(speaker, 0.7), log_dir=str(tmp_path), display="none")
    assert log.status == "error"
    assert log.error is not None
    assert "temperature 1 from the whole distribution" in log.error.message


def test_greedy_play_needs_no_key_and_float64_is_kept(table: Dinner) -> None:
    assert next(table.policy.model.parameters()).dtype == torch.float64
    one, two = (table.play(games(3, 1, None))[0].record for _ in range(2))
    assert one == two


SAID = [
    '<tool_call>\n{"name": "pick_up_left", "arguments": {}}\n</tool_call>',
    'Now.\n<tool_call>\n{"name": "eat"}\n</tool_call>\n<tool_call>\n{"name": "think", "arguments": {}}\n</tool_call>',
    "I wait.",
    '<tool_call>\n{"name": "pick_up_right", "arguments": {}}\n</tool_call>',
    '<tool_call>\n{"name": "fly", "arguments": {"to": "the moon"}}\n</tool_call>',
    '<tool_call>\n{"name": \n</tool_call>',
]


@pytest.mark.parametrize("memory", [0, 2, "chat"])
def test_with_memory_the_prompts_are_those_of_an_evaluation(
    memory: Memory, speaker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was said: one call, several, none, one of no tool, one that is broken."""
    asked: list[Ids] = []

    def scripted(self: Policy, prompts: Sequence[Ids], rows: Sequence[tuple[int, str | None]]) -> list[Reply]:
        asked.extend(prompts[number] for number, _ in rows)
        texts = [SAID[sum(prompts[number]) % len(SAID)] for number, _ in rows]
        ids = [(*self.prompts.encode([text])[0], min(self.stops)) for text in texts]
        return [Reply(one, (-1.0,) * len(one), True) for one in ids]

    monkeypatch.setattr(Policy, "sample", scripted)
    task = philosophers(n=3, episodes=1, rounds=6, memory=memory)
    (log,) = inspect_eval(task, model=checkpoint(speaker, None), log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    evaluated_prompts = Counter(asked)
    asked.clear()
    table = dinner(*load(str(speaker), "float64"), Recipe(memory=memory))
    rules = Rules(n=3, rounds=6)
    (episode,) = table.play([Play(rules, episode_seed("test", sample_id(3, 0, 0)), "k")])
    assert Counter(asked) == evaluated_prompts
    assert [episode.record] == records(log)
    assert len(set(asked)) > 12
    assert [turn.prompt for turn in episode.turns] == asked


def test_a_conversation_that_outgrows_the_context_is_told_and_not_played_on(speaker: Path) -> None:
    """Beyond its positions a model says anything, and that would be trained on."""
    model, tokenizer = load(str(speaker))
    table = dinner(model, tokenizer, Recipe(memory="chat"))
    model.config.max_position_embeddings = 40
    with pytest.raises(BadInput, match=r"has \d+ tokens, but the model's context has room for 40 with a reply of 16"):
        table.play([Play(Rules(n=3, rounds=30), 1, "k")])
