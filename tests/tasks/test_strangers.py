"""Mixed tables and faults under `inspect eval`, and what the analysis makes of their logs."""

from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.event import InfoEvent
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, ModelOutput, get_model

from inspect_dining.analysis.comparison.compare import compare
from inspect_dining.analysis.inputs.collection import read
from inspect_dining.crossplay import cross_play, seating
from inspect_dining.errors import BadInput
from inspect_dining.table import Action, Rules, View, episode_seed, play, replay
from inspect_dining.table.players.talkers import announced
from inspect_dining.tasks import philosophers
from tests.solvers.harness import Talker, calls, record_of, run, samples, score

FEW: dict[str, object] = {"n": 3, "episodes": 6, "rounds": 6}


def played(folder: Path, model: str, roles: dict[str, str] | None = None, **arguments: object) -> EvalLog:
    (log,) = inspect_eval(
        "inspect_dining/philosophers",
        model=model,
        model_roles=dict(roles or {}),
        task_args=FEW | arguments,
        log_dir=str(folder),
        display="none",
    )
    return log


@pytest.mark.slow
def test_two_roles_share_the_seats_in_every_arrangement_and_are_compared_with_the_pure_tables(tmp_path: Path) -> None:
    """The report's matrix of logs must be the matrix that the same players come to without Inspect."""
    pair = ["odd_even", "hierarchy"]
    logs = [played(tmp_path, f"dining/{name}") for name in pair]
    mixed = played(tmp_path, "dining/odd_even", {"guest": "dining/hierarchy"}, players="host,guest")
    for number, sample in enumerate(samples(mixed)):
        names = [pair[who] for who in seating(3, 2, number)]
        assert sample.metadata["seating"] == ["host" if name == pair[0] else "guest" for name in names]
        assert record_of(sample) == play(Rules(3, 6), names, episode_seed("test", str(sample.id)))
        assert len([usage for role, usage in sample.role_usage.items() if role.startswith("seat_")]) == 3
    found = compare(read([*logs, mixed]), ladder_episodes=0)
    (section,) = found.sections
    assert section.matrix is not None
    alone = cross_play(pair, Rules(3, 6), 6)
    for one, other in ((0, 0), (1, 1), (0, 1)):
        here = section.matrix.cell(f"dining/{pair[one]}", f"dining/{pair[other]}")
        there = alone.cell(pair[one], pair[other])
        assert here is not None
        assert there is not None
        assert (here.efficiency, here.deadlock) == (there.efficiency, there.deadlock)
    assert [mixing.loss for mixing in section.matrix.mixings] == [mixing.loss for mixing in alone.mixings]
    assert {row.label for row in section.rows} == {
        "dining/odd_even", "dining/hierarchy", "dining/hierarchy & dining/odd_even",
    }  # fmt: skip


def test_a_fault_is_played_under_inspect_as_without_and_its_seat_is_never_asked(tmp_path: Path) -> None:
    seen: list[View] = []

    def reaches(view: View, config: GenerateConfig) -> ModelOutput:
        seen.append(view)
        return calls("pick_up_left" if view.seat == 1 else "think")

    task = philosophers(n=3, episodes=1, rounds=6, faults=["1:crash@first_fork"])
    (sample,) = samples(run(task, Talker(reaches).model(), tmp_path))
    record = record_of(sample)
    begun = next(round.number for round in replay(record) if round.faulty)
    assert max(view.round for view in seen if view.seat == 1) == begun - 1
    assert begun == 2
    assert score(sample, "failure_locality") == 1.0
    assert score(sample, "survivors_efficiency") == 0.0
    assert score(sample, "rounds_to_meal") == 5.0  # to the horizon: neither seat ate any more


def test_a_liar_is_heard_under_inspect_as_without(tmp_path: Path) -> None:
    task = philosophers(n=3, episodes=1, rounds=8, talk=1, faults="1:liar@2")
    (sample,) = samples(run(task, get_model("dining/announce_yield"), tmp_path))
    record = record_of(sample)
    assert record == play(record.rules, "announce_yield", record.seed)
    faulty = replay(record)[1:]
    lies = [round.exchanges[0][1] for round in faulty]
    assert not {(announced(lie), round.turns[1].reading.action) for lie, round in zip(lies, faulty, strict=True)} & {
        (action, action) for action in (None, *Action)
    }
    infos = [str(e.data).removeprefix("attachment://") for e in sample.events if isinstance(e, InfoEvent)]
    cards = [card for card in (sample.attachments.get(info, info) for info in infos) if "⚠ liar: " in card]
    assert len(cards) == len(faulty)
    assert all(lie.replace("_", "\\_") in card for lie, card in zip(lies, cards, strict=True))


def test_a_seat_whose_model_fails_crashes_where_that_was_asked_for(tmp_path: Path) -> None:
    def fails(view: View, config: GenerateConfig) -> ModelOutput:
        if view.seat == 2 and view.round == 3:
            raise TimeoutError("no answer")
        return calls("think")

    task = philosophers(n=3, episodes=1, rounds=5, failures="crash")
    log = run(task, Talker(fails).model(), tmp_path)
    (sample,) = samples(log)
    record = record_of(sample)
    assert (record.rules.faults, record.ended) == ("2:crash@3", "horizon")
    assert record.rounds == ("fff", "fff", "ff0", "ff0", "ff0")
    assert score(sample, "lost_turns") == 0
    assert len(compare(read([log]), ladder_episodes=0).sections[0].rows) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"players": "a,b"}, "a and b have no model; give --model-role a=MODEL"),
        ({"players": "a"}, "name two players or more"),
        ({"players": "a,a"}, "each once"),
        ({"players": "seat_0,b"}, "is not accepted"),
        ({"players": "a,b,c,d"}, "at most 3, the seats of the smallest table"),
        ({"faults": "3:hog"}, "names seat 3; the seats of a table of 3 are 0 to 2"),
        ({"faults": [2]}, "a fault is written SEAT:KIND@BEGINS"),
        ({"failures": "ignore"}, "accepted: error, crash"),
    ],
)
def test_what_cannot_be_seated_is_refused_before_any_call(arguments: dict[str, object], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        philosophers(n=3, episodes=1, **arguments)  # type: ignore[arg-type]


def test_what_a_run_of_mixed_tables_plays_does_not_change_what_others_are_compared_by(tmp_path: Path) -> None:
    """`players` and `failures` at their default must not part old logs from new ones."""
    log = played(tmp_path, "dining/silent", episodes=1)
    (run_of_log,) = read([log]).runs
    assert not {"players", "failures"} & dict(run_of_log.setup).keys()
