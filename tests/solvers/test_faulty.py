"""A philosopher whose own code fails is an error of the episode that names its cause, and never a quiet end."""

from pathlib import Path

import pytest
from inspect_ai.model import GenerateConfig, ModelOutput, get_model

from inspect_dining.table import Rules, View
from inspect_dining.tasks import philosophers
from tests.solvers.harness import Talker, calls, left_first, record_of, run, samples


@pytest.mark.parametrize("name", ["leaking", "cancelling", "leaving"])
def test_a_philosopher_that_cancels_or_exits_is_an_error(tmp_path: Path, name: str) -> None:
    """Such a game once ended as a success without a round, an error or a score."""
    task = philosophers(n=2, episodes=1, rounds=3, philosopher=f"tests.solvers.faulty:{name}")
    log = run(task, Talker(left_first).model(), tmp_path, fail_on_error=False)
    (one,) = samples(log)
    assert one.error is not None
    assert "The philosopher's own code ended its turn by" in one.error.message
    assert record_of(one).ended == "cut: error (RuntimeError)"
    assert not one.scores


@pytest.mark.parametrize("name", ["grouped", "nested"])
def test_a_limit_within_a_group_of_tasks_cuts_the_game(tmp_path: Path, name: str) -> None:
    task = philosophers(n=2, episodes=1, rounds=5, patience=9, philosopher=f"tests.solvers.faulty:{name}")
    log = run(task, Talker(left_first).model(), tmp_path, token_limit=12 * 5)
    (one,) = samples(log)
    assert one.error is None
    assert one.limit is not None
    assert record_of(one).ended == "cut: token limit"
    assert 1 <= len(record_of(one).rounds) < 5


@pytest.mark.parametrize("name", ["grouped", "nested"])
def test_the_error_of_a_provider_within_a_group_of_tasks_keeps_its_name(tmp_path: Path, name: str) -> None:
    def reply(view: View, config: GenerateConfig) -> ModelOutput:
        if view.round == 2:
            raise ConnectionError("the provider fell over")
        return calls("think")

    task = philosophers(n=2, episodes=1, rounds=5, philosopher=f"tests.solvers.faulty:{name}")
    (one,) = samples(run(task, Talker(reply).model(), tmp_path, fail_on_error=False))
    assert one.error is not None
    assert one.error.message == "ConnectionError('the provider fell over')"
    assert record_of(one).ended == "cut: error (ConnectionError)"


def test_a_limit_on_messages_counts_a_kept_conversation_and_is_refused_where_it_could_not(tmp_path: Path) -> None:
    """It once had no effect, and nobody said so."""
    for memory in (0, 2):
        task = philosophers(n=2, episodes=1, rounds=3, memory=memory)
        (one,) = samples(run(task, Talker(left_first).model(), tmp_path, message_limit=3, fail_on_error=False))
        assert one.error is not None
        assert "--message-limit 3 would have no effect" in one.error.message
    task = philosophers(n=2, episodes=1, rounds=9, patience=9, memory="chat")
    (one,) = samples(run(task, Talker(left_first).model(), tmp_path, message_limit=8))
    assert record_of(one).ended == "cut: message limit"
    assert record_of(one).rules == Rules(2, 9, patience=9)


@pytest.mark.parametrize(("own", "run_sets", "sent"), [(16384, None, 16384), (None, None, 2048), (16384, 99, 99)])
def test_a_limit_of_the_model_s_own_outranks_the_default_and_the_run_s_outranks_both(
    tmp_path: Path, own: int | None, run_sets: int | None, sent: int
) -> None:
    """The default of a dinner once took the place of what a model specification set."""
    talker = Talker(left_first)
    config = GenerateConfig(max_tokens=own, temperature=0.3, parallel_tool_calls=None if own is None else True)
    model = get_model("mockllm/model", custom_outputs=talker.answer, config=config)
    run(philosophers(n=2, episodes=1, rounds=3), model, tmp_path, max_tokens=run_sets)
    assert {(c.max_tokens, c.temperature, c.parallel_tool_calls) for c in talker.configs} == {
        (sent, 0.3, own is not None)
    }
