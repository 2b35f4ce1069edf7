"""From logs to episodes: what counts, what is left out, and that every failure is a sentence."""

from dataclasses import replace
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, EvalSample, EvalSpec, read_eval_log, read_eval_log_sample, write_eval_log
from inspect_ai.scorer import Score

from inspect_dining import records as facade
from inspect_dining.analysis.inputs.collection import RECORD, UNREAD, games, read, records
from inspect_dining.analysis.inputs.episodes import Status
from inspect_dining.analysis.inputs.log_files import samples
from inspect_dining.errors import BadInput
from inspect_dining.table import Record, Rules, play
from tests.analysis.made import log, played, run, sample

RULES = Rules(n=3, rounds=8)
NAMES = ["n03-s0-e000", "n03-s0-e001", "n03-s0-e002"]


def _file(made: EvalLog, path: Path) -> Path:
    write_eval_log(made, path)
    return path


def _cut(record: Record, rounds: int, why: str = "token limit") -> Record:
    return replace(record, ended=f"cut: {why}", rounds=record.rounds[:rounds], hashes=record.hashes[:rounds])


def test_episodes_come_from_a_log_in_memory_a_file_and_a_folder_alike(tmp_path: Path) -> None:
    made = run("m/x", "odd_even", RULES, 3)
    file = _file(made, tmp_path / "a.eval")
    for source in (made, file, str(file), tmp_path):
        found = records(source)
        assert [episode.sample for episode in found] == NAMES
        assert [episode.record for episode in found] == list(played("odd_even", RULES, 3).values())
    assert facade is records


def test_a_sample_parsed_here_is_the_one_that_inspect_reads(tmp_path: Path) -> None:
    file = _file(run("m/x", "odd_even", RULES, 2), tmp_path / "a.eval")
    for sample_read in samples(read_eval_log(str(file), header_only=True), UNREAD, []):
        assert isinstance(sample_read, EvalSample)
        theirs = read_eval_log_sample(str(file), sample_read.id, exclude_fields=UNREAD)
        assert sample_read == theirs
        assert theirs.store


def test_an_episode_knows_its_run_rules_scores_and_tokens(tmp_path: Path) -> None:
    made = log("m/x", [sample(play(RULES, "hog"), NAMES[0], RULES, cost=0.5)], roles={"seat_1": "m/y"}, rounds=8)
    (episode,) = records(_file(made, tmp_path / "a.eval"))
    assert episode.run.player.model == "m/x"
    assert episode.run.player.roles == (("seat_1", "m/y"),)
    assert episode.rules == RULES
    assert episode.scores["no_deadlock"] == 0.0
    assert episode.usage.seats == (3, 3, 3)
    assert (episode.usage.tokens, episode.usage.cost) == (9, 0.5)


def test_cut_and_errored_games_are_episodes_without_scores() -> None:
    """An error is never data, and neither is a game that a limit stopped."""
    record = play(RULES, "odd_even")
    made = log(
        "m/x",
        [
            sample(record, NAMES[0], RULES),
            sample(_cut(record, 3), NAMES[1], RULES),
            sample(_cut(record, 0, "error (RuntimeError)"), NAMES[2], RULES, error="RuntimeError: 500"),
            sample(None, "n03-s0-e003", RULES, error="RuntimeError: 500"),
        ],
        rounds=8,
    )
    found = records(made)
    assert [e.status for e in found] == [Status.SCORED, Status.CUT, Status.ERRORED, Status.ERRORED]
    assert [e.reason for e in found] == ["", "token limit", "RuntimeError: 500", "RuntimeError: 500"]
    with pytest.raises(ValueError, match="is cut: token limit"):
        _ = found[1].terms


def test_a_record_that_does_not_replay_is_errored_and_told() -> None:
    record = play(RULES, "odd_even")
    forged = replace(record, hashes=("0" * 16, *record.hashes[1:]))
    (episode,) = records(
        log("m/x", [sample(record, NAMES[0], RULES).model_copy(update={"store": {RECORD: forged.to_dict()}})])
    )
    assert episode.status is Status.ERRORED
    assert "does not replay" in episode.reason


def test_scores_come_from_the_record_and_a_log_that_says_otherwise_is_named() -> None:
    """Else an edited log could move a mean."""
    made = sample(play(RULES, "odd_even"), NAMES[0], RULES)
    assert made.scores is not None
    truth = made.scores["efficiency"].as_float()
    made.scores["efficiency"] = Score(value=0.999)
    found = read([log("m/x", [made])])
    assert found.episodes[0].scores["efficiency"] == pytest.approx(truth, abs=1e-6)
    assert any("the log has efficiency = 0.999" in note for note in found.notes)


def test_scores_with_four_decimals_agree() -> None:
    made = sample(play(RULES, "odd_even"), NAMES[0], RULES)
    made.scores = {name: Score(value=round(score.as_float(), 4)) for name, score in (made.scores or {}).items()}
    assert not read([log("m/x", [made])]).notes


def test_a_retry_supersedes_the_run_it_retries(tmp_path: Path) -> None:
    """Inspect copies finished samples into the new log: counted twice, they would narrow every interval."""
    first = run("m/x", "odd_even", RULES, 2)
    first.eval.task_id = "same"
    second = run("m/x", "odd_even", RULES, 3)
    second.eval.task_id, second.eval.created = "same", "2026-11-30T09:00:00+00:00"
    _file(second, tmp_path / "a.eval")
    _file(first, tmp_path / "b.eval")
    found = read([tmp_path])
    assert len(found.episodes) == 3
    assert found.notes == ("b.eval and a.eval are logs of one run; only the latter counts.",)


def test_a_log_given_twice_counts_once(tmp_path: Path) -> None:
    file = _file(run("m/x", "odd_even", RULES, 2), tmp_path / "a.eval")
    assert len(read([file, tmp_path, str(file)]).episodes) == 2


def test_epochs_are_episodes_and_planned_ones_are_counted_by_size() -> None:
    samples = [sample(play(RULES, "random", epoch=epoch), NAMES[0], RULES, epoch=epoch) for epoch in (1, 2)]
    found = read([log("m/x", samples, planned=[*NAMES, "n05-s0-e000"], epochs=2)])
    assert [(e.sample, e.epoch) for e in found.episodes] == [(NAMES[0], 1), (NAMES[0], 2)]
    assert found.runs[0].sizes == {3: 6, 5: 2}


def test_a_log_still_being_written_gives_what_it_has_and_says_so() -> None:
    made = run("m/x", "odd_even", RULES, 2)
    made.status, made.eval.dataset.sample_ids = "started", NAMES
    found = read([made])
    assert len(found.episodes) == 2
    assert "is still being written, or its run was killed: 2 of 3 planned episodes are in it." in found.notes[0]


def test_a_log_of_another_task_is_left_out_with_a_sentence() -> None:
    other = log("m/x", [sample(None, "q1", RULES).model_copy(update={"metadata": {"rules": {"a": 1}}})], task="mmlu")
    found = read([run("m/x", "odd_even", RULES, 1), other])
    assert len(found.runs) == 1
    assert "is a log of the task mmlu and holds no dinner; it was left out." in found.notes[0]
    with pytest.raises(BadInput, match=r"There is no dinner to read\..*mmlu"):
        read([other])


def test_a_log_without_samples_says_so() -> None:
    assert "holds no samples" in read([log("m/x", [], planned=NAMES, rounds=8)]).notes[0]


def test_a_missing_path_and_an_empty_folder_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nowhere does not exist"):
        read(["nowhere"])
    with pytest.raises(BadInput, match="holds no logs"):
        read([tmp_path])


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_a_file_cut_off_anywhere_is_left_out_with_a_sentence(tmp_path: Path, ending: str) -> None:
    """A full disk or a killed process leaves half a file."""
    whole = _file(run("m/x", "odd_even", RULES, 3), tmp_path / f"a.{ending}").read_bytes()
    good = run("m/y", "odd_even", RULES, 1)
    for share in (0.0, 0.01, 0.3, 0.6, 0.9, 0.99):
        broken = tmp_path / f"broken.{ending}"
        broken.write_bytes(whole[: int(share * len(whole))])
        found = read([broken, good])
        assert len(found.runs) in (1, 2)
        assert any("broken" in note for note in found.notes)


def test_a_damaged_sample_costs_itself_alone(tmp_path: Path) -> None:
    """Bytes flipped in the middle of a file must not lose the samples behind them."""
    file = _file(run("m/x", "odd_even", RULES, 8), tmp_path / "a.eval")
    data = bytearray(file.read_bytes())
    place = data.index(b"samples/n03-s0-e004_epoch_1.json") + 60
    data[place : place + 40] = bytes(b ^ 0xFF for b in data[place : place + 40])
    file.write_bytes(bytes(data))
    found = read([file])
    assert [episode.status for episode in found.episodes].count(Status.SCORED) == 7
    (lost,) = (episode for episode in found.episodes if episode.status is Status.ERRORED)
    assert (lost.sample, lost.record) == ("n03-s0-e004", None)
    assert lost.reason.startswith("cannot be read")
    assert "is damaged: 1 samples could not be read" in found.notes[0]


def test_a_reward_that_cannot_be_computed_here_is_left_out_and_told() -> None:
    made = log(
        "m/x", [sample(play(RULES, "wave"), NAMES[0], RULES)], arguments={"shaping": "not_installed:reward"}, rounds=8
    )
    found = read([made])
    assert "reward" not in found.episodes[0].scores
    assert "cannot be computed here" in found.notes[0]


@pytest.mark.parametrize("weights", [None, "1,0.5,0,0.1", [1, 0.5, 0, 0.1]])
def test_the_reward_is_that_of_the_task_s_arguments(weights: object) -> None:
    """Task arguments come as text from a command line and as lists from Python."""
    made = log(
        "m/x",
        [sample(play(RULES, "odd_even"), NAMES[0], RULES)],
        arguments={"weights": weights, "throughput": "optimum"},
    )
    (episode,) = records(made)
    penalty = 0.3 if weights is None else 0.0
    terms = episode.terms
    expected = 1 + 0.5 * terms.efficiency - penalty * terms.meal_variance - 0.1 * terms.idle
    assert episode.scores["reward"] == pytest.approx(expected)


def test_the_reward_is_that_of_the_log_s_scorer_where_it_names_one() -> None:
    """A task of one's own, or `inspect score`, rewards without the arguments of our task."""
    made = log("m/x", [sample(play(RULES, "odd_even"), NAMES[0], RULES)])
    scorer = {"name": "inspect_dining/reward", "options": {"shaping": "proportional", "weights": None}}
    made.eval = EvalSpec.model_validate({**made.eval.model_dump(), "scorers": [scorer]})
    (episode,) = records(made)
    assert episode.run.reward_name == "proportional"
    assert episode.scores["reward"] == episode.scores["proportional"]


def test_one_game_is_found_by_sample_and_epoch_and_a_wrong_name_gets_a_hint(tmp_path: Path) -> None:
    samples = [sample(play(RULES, "random", epoch=e), name, RULES, epoch=e) for name in NAMES for e in (1, 2)]
    file = _file(log("m/x", samples, epochs=2, rounds=8), tmp_path / "a.eval")
    (episode,) = games(file, NAMES[1], 2)
    assert (episode.sample, episode.epoch) == (NAMES[1], 2)
    with pytest.raises(BadInput, match="Did you mean n03-s0-e001"):
        list(games(file, "n03-s0-e01"))
    with pytest.raises(BadInput, match="in epoch 3"):
        list(games(file, NAMES[0], 3))
