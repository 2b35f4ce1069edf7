"""The scorers and metrics of DPBench's game, through Inspect's own types, epochs and reducers."""

import asyncio
from types import SimpleNamespace

import pytest
import tiktoken
from inspect_ai.model import ModelName
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from pytest_inspect_evals.metrics import run_metrics

from inspect_dining.dpbench import scores
from inspect_dining.dpbench.dinner import DPBenchGame, dpbench_dinner
from inspect_dining.dpbench.game import play
from inspect_dining.dpbench.players import player
from inspect_dining.dpbench.record import DPBENCH_RECORD, Record
from inspect_dining.dpbench.rules import DPBenchRules
from inspect_dining.errors import BadInput
from inspect_dining.philosophers.reading import Reply, Stop
from inspect_dining.statistics import share_interval


@pytest.fixture(autouse=True)
def no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mock model counts tokens with an encoding that it would fetch; what it counts matters to nothing here."""
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: SimpleNamespace(encode=lambda said, **_: said.split()))


def scored(scorer: Scorer, record: Record | None) -> Score:
    """A score of a game."""
    store = {} if record is None else {DPBENCH_RECORD: record.to_dict()}
    about = {"condition": "sim5nc"}
    state = TaskState(ModelName("dining/think"), "sim5nc-s0-e000", 1, "", [], store=store, metadata=about)
    score = asyncio.run(scorer(state, Target("")))
    assert isinstance(score, Score)
    return score


PARITY = play(DPBenchRules(5, compat="0.2.1"), player("odd_even"))
MENDED = play(DPBenchRules(5, communication=True), player("odd_even"), seed=1)
LOCKED = play(DPBenchRules(5, order="sequential"), player("left_first"))
IDLE = play(DPBenchRules(3, timesteps=4), player("silent"))


@pytest.mark.parametrize(
    ("scorer", "record", "value"),
    [
        (scores.deadlock(), LOCKED, 1),
        (scores.deadlock(), PARITY, 0),
        (scores.meals_per_timestep(), PARITY, 0.7333),
        (scores.gini_fairness(), PARITY, 0.4091),
        (scores.time_to_deadlock(), LOCKED, 5),
        (scores.starvation(), PARITY, 2),
        (scores.message_action_consistency(), MENDED, 100),
        (scores.meals_per_turn(), PARITY, 0.1467),
        (scores.jain_of_meals(), LOCKED, 0),
        (scores.lost_replies(), IDLE, 1),
        (scores.lost_replies(), PARITY, 0),
    ],
)
def test_the_value_of_a_game(scorer: Scorer, record: Record, value: float) -> None:
    score = scored(scorer, record)
    assert score.as_float() == value
    assert score.explanation


def test_the_optimum_is_known_for_the_corrected_simultaneous_game() -> None:
    """Of 29 meals in 30 timesteps."""
    share = scored(scores.optimum_share(), MENDED).as_float()
    meals = sum(int(count) for count in str(scored(scores.deadlock(), MENDED).answer).split("/"))
    assert share == round(meals / 29, 4)
    for record in (PARITY, LOCKED):
        assert scored(scores.optimum_share(), record).reason == "does not apply"


@pytest.mark.parametrize("scorer", [scores.deadlock(), scores.gini_fairness(), scores.lost_replies()])
def test_a_cut_game_is_not_scored(scorer: Scorer) -> None:
    cut = Record(DPBenchRules(5), 0, "cut: token limit", ())
    assert scored(scorer, cut).reason == "cut: token limit"
    assert scored(scorer, None).reason == "no record"


def test_what_does_not_apply_is_neither_nought_nor_one() -> None:
    assert scored(scores.time_to_deadlock(), PARITY).reason == "does not apply"
    assert scored(scores.message_action_consistency(), PARITY).reason == "does not apply"


def one(value: float, condition: str = "sim5nc", record: str = "r", said: tuple[int, int] = (0, 0)) -> Score:
    about = {"condition": condition, "record": record, "stated": said[0], "kept": said[1]}
    return Score(value=value, metadata=about)


@pytest.mark.slow
def test_conditions_are_not_pooled() -> None:
    found = run_metrics([scores.per_condition(share=True)], [[one(1)], [one(0)], [one(1, "temp_0.3")]])
    assert (found["sim5nc"], found["sim5nc_episodes"], found["temp_0_3"]) == (0.5, 2, 1)


def test_a_rate_has_wilsons_interval() -> None:
    found = run_metrics([scores.per_condition(share=True)], [[one(k < 18, record=str(k))] for k in range(30)])
    expected = share_interval(18, 30).interval
    assert expected is not None
    assert (found["sim5nc_low"], found["sim5nc_high"]) == pytest.approx((expected.low, expected.high))
    assert (found["sim5nc"], found["sim5nc_distinct"]) == (0.6, 30)


def test_messages_are_pooled_as_dpbench_pools_them() -> None:
    found = run_metrics([scores.pooled_messages()], [[one(50, said=(2, 1))], [one(100, said=(8, 8))], [one(0)]])
    assert (found["sim5nc_pooled"], found["sim5nc_messages"]) == (90, 10)


def test_epochs_that_agree_change_nothing() -> None:
    games = [one(1, record="a", said=(2, 1)), one(0, record="b", said=(4, 4))]
    for metric in (scores.per_condition(), scores.pooled_messages()):
        kept = {"sim5nc", "sim5nc_low", "sim5nc_high", "sim5nc_pooled"}
        once, twice = (run_metrics([metric], [[game] * epochs for game in games]) for epochs in (1, 2))
        assert {k: v for k, v in once.items() if k in kept} == pytest.approx({
            k: v for k, v in twice.items() if k in kept
        })


def test_a_sample_without_rules_is_refused_in_a_sentence() -> None:
    state = TaskState(ModelName("dining/think"), "x", 1, "", [], store={}, metadata={})
    with pytest.raises(BadInput, match="no rules of DPBench"):
        asyncio.run(dpbench_dinner()(state, lambda *given, **more: None))  # type: ignore[arg-type]  # never called


def test_what_a_model_says_is_no_markup_in_a_card() -> None:
    game = DPBenchGame(DPBenchRules(2, communication=True), 0)
    said = "MESSAGE: | <b>mine</b> `x` [y](z)\nACTION: WAIT"
    game.move([game.read(Reply((), said, Stop.FINISHED))] * 2)
    card = game.card({})
    assert "<b>" not in card
    assert "](z)" not in card
    assert card.count("|") == 8 * 4
