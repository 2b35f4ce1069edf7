"""Every verb and every task argument: what is wrong is told in one sentence, before anything is played or written."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from inspect_dining.cli.main import VERBS, main
from inspect_dining.errors import BadInput
from inspect_dining.table import Rules, best_meals, play
from inspect_dining.tasks import philosophers
from inspect_dining.tasks.arguments import refuse_missing_model

HUGE = "9" * 5000
VERB_USES: list[tuple[str, str]] = [
    # verbs
    ("adit", "No such command 'adit'"),
    ("--nosuch", "No such option"),
    # audit
    ("audit --shaping papr", "Did you mean paper?"),
    ("audit --shaping nowhere:f", "there is no module nowhere"),
    ("audit --shaping :f", "give package.module:name"),
    ("audit --shaping proportional --weights 1,2,3,4", "takes no weights"),
    ("audit --weights 1,2", "four finite numbers"),
    ("audit --weights 1,2,3,inf", "four finite numbers"),
    ("audit --weights a", "--weights a is not accepted"),
    ("audit --throughput meals", "'meals' is not one of"),
    ("audit --variance none", "'none' is not one of"),
    ("audit --n 1", "--n 1 is not accepted"),
    ("audit --n five", "--n five is not accepted"),
    ("audit --n 5,5", "--n 5,5 is not accepted"),
    ("audit --n 5,,10", "--n 5,,10 is not accepted"),
    ("audit --n -5", "--n -5 is not accepted"),
    (f"audit --n {HUGE}", "is not accepted"),
    ("audit --n 1000 --rounds 30", "--n 1000 is not accepted"),
    ("audit --n 100 --rounds 30", "an audit searches tables of up to 40 seats"),
    ("audit --rounds 2", "2 is not in the range"),
    ("audit --rounds 999", "an audit searches tables of up to 40 seats and 200 rounds"),
    ("audit --rounds 1.5", "'1.5' is not a valid integer"),
    ("audit --episodes 1", "--episodes 1 is not accepted"),
    ("audit --episodes -1", "-1 is not in the range"),
    ("audit --episodes 99999999", "scripted turns are more than one command plays"),
    ("audit --deadlock 2", "2.0 is not in the range"),
    ("audit --seed -1", "-1 is not in the range"),
    ("audit --picture frontier.xyz", "frontier.xyz"),
    ("audit --picture nowhere/frontier.svg", "nowhere"),
    ("audit five", "unexpected extra argument"),
    # dpbench
    ("dpbench", "No results were given"),
    ("dpbench nowhere", "nowhere does not exist"),
    ("dpbench . --csv cells.xls", "must end in .csv"),
    ("dpbench . --figure nowhere/f.svg", "there is no folder nowhere"),
    ("dpbench .", "There is no result of DPBench"),
    # ladder
    ("ladder --n 1", "--n 1 is not accepted"),
    ("ladder --n 5;10", "--n 5;10 is not accepted"),
    ("ladder --order both", "'both' is not one of"),
    ("ladder --release never", "'never' is not one of"),
    ("ladder --ties coin", "'coin' is not one of"),
    ("ladder --hint all", "'all' is not one of"),
    ("ladder --patience 0", "--patience 0 is not accepted"),
    ("ladder --patience one", "--patience one is not accepted"),
    ("ladder --episodes 1", "1 is not in the range"),
    ("ladder --episodes 99999999", "scripted turns are more than one command plays"),
    ("ladder --shaping papr", "Did you mean paper?"),
    ("ladder --seed 99999999999999999999", "is not in the range"),
    # compare
    ("compare", "No logs were given"),
    ("compare nowhere", "nowhere does not exist"),
    ("compare . --primary deadlocks", "'deadlocks' is not one of"),
    ("compare . --json --csv", "--json and --csv cannot be combined"),
    ("compare . --csv --latex", "--csv and --latex cannot be combined"),
    ("compare . --json -o table.csv", "--json and table.csv cannot be combined"),
    ("compare . -o nowhere/x.json", "there is no folder nowhere"),
    ("compare . -o .", "is a directory"),
    ("compare . --throughput optimum", "name one with --shaping"),
    ("compare . --weights 1,0.5,0.3,0.1", "name one with --shaping"),
    ("compare . --shaping papr", "Did you mean paper?"),
    ("compare . --ladder -1", "-1 is not in the range"),
    ("compare . --ladder 99999999", "is not in the range"),
    # export
    ("export -o games.csv", "No logs were given"),
    ("export nowhere -o games.csv", "nowhere does not exist"),
    ("export .", "Missing option '-o'"),
    ("export . -o games.xlsx", "must end in .csv or .parquet"),
    ("export . -o nowhere/games.csv", "there is no folder nowhere"),
    ("export . -o games.csv --by round", "'round' is not one of"),
    # report
    ("report", "No logs were given"),
    ("report nowhere", "nowhere does not exist"),
    ("report . -o report.docx", "must end in"),
    ("report . -o report", "must end in"),
    ("report . -o nowhere/x.html", "there is no folder nowhere"),
    ("report . --shaping papr", "Did you mean paper?"),
    ("report . --variance none", "'none' is not one of"),
    # replay
    ("replay", "Missing argument 'LOG'"),
    ("replay nowhere", "nowhere does not exist"),
    ("replay . --svg game.png", "must end in .svg"),
    ("replay . --svg nowhere/game.svg", "there is no folder nowhere"),
    ("replay . --epoch 0", "0 is not in the range"),
    ("replay one two", "unexpected extra argument"),
    ("replay . --round 1 --seat 2", "give one of them"),
    ("replay . --round 0", "0 is not in the range"),
    ("replay . --seat -1", "-1 is not in the range"),
    ("replay . --step", "needs a terminal"),
    ("report . --paper A5", "'A5' is not one of"),
    # crossplay
    ("crossplay --nosuch", "No such option"),
    ("crossplay", "No players were given"),
    ("talk nosuch", "does not exist"),
    ("talk", "Missing argument"),
    ("crossplay nobody", "There is no scripted player 'nobody'"),
    ("crossplay wave --n 1", "--n 1 is not accepted"),
    ("crossplay wave --rounds 2", "2 is not in the range"),
    # check
    ("check", "No model was given"),
    ("check gpt-5", "name a model as provider/model"),
    ("check dining/wave --n 1", "--n 1 is not accepted"),
    ("check dining/wave --episodes 0", "0 is not in the range"),
    ("check dining/wave --rounds 2", "2 is not in the range"),
    ("check dining/wave --model-cost-config nowhere.yaml", "does not exist"),
    # plan
    ("plan --n 1", "--n 1 is not accepted"),
    ("plan --n 5,x", "--n 5,x is not accepted"),
    ("plan --episodes 0", "0 is not in the range"),
    ("plan --rounds 2", "2 is not in the range"),
    ("plan --epochs 0", "0 is not in the range"),
    ("plan --power 1", "1.0 is not in the range"),
    ("plan --alpha 0", "0.0 is not in the range"),
    ("plan --shares 0.5", "requires 2 arguments"),
    ("plan --prompt-tokens 0", "0 is not in the range"),
    ("plan --log nowhere --prompt-tokens 5", "cannot be combined with"),
    # models
    ("models llama", "No system of the paper is called 'llama'"),
    ("models --n 1", "--n 1 is not accepted"),
    ("models --rounds 0", "0 is not in the range"),
    ("models a b", "unexpected extra argument"),
]
TASK_USES: list[tuple[dict[str, object], str]] = [
    ({"n": 1}, "n must be a whole number from 2 to 100"),
    ({"n": 101}, "n must be a whole number from 2 to 100"),
    ({"n": 1000, "rounds": 100_000}, "n must be a whole number from 2 to 100"),
    ({"n": HUGE}, "n must be a whole number from 2 to 100"),
    ({"n": int("9" * 4000) ** 2}, "a number of thousands of digits"),
    ({"n": "5,5"}, "names a number twice"),
    ({"n": "5,,10"}, "n must be a whole number"),
    ({"n": ""}, "n must be a whole number"),
    ({"n": []}, "n must be a whole number"),
    ({"n": True}, "n must be a whole number"),
    ({"n": 5.0}, "n must be a whole number"),
    ({"n": None}, "n must be a whole number"),
    ({"n": {"a": 1}}, "n must be a whole number"),
    ({"episodes": 0}, "episodes must be a whole number from 1"),
    ({"episodes": "many"}, "episodes must be a whole number from 1"),
    ({"episodes": 10**9}, "episodes must be a whole number from 1"),
    ({"n": 100, "episodes": 10_000, "rounds": 1000}, "more than a run may plan"),
    ({"rounds": 2}, "rounds must be a whole number from 3"),
    ({"rounds": 100_000}, "rounds must be a whole number from 3"),
    ({"rounds": "10,20"}, "rounds must be a whole number from 3"),
    ({"order": "parallel"}, "order='parallel' is not known; accepted: simultaneous, sequential"),
    ({"release": True}, "release=True is not known"),
    ({"ties": "coin"}, "ties='coin' is not known"),
    ({"hint": "all"}, "hint='all' is not known"),
    ({"patience": 0}, "patience must be a whole number from 1"),
    ({"memory": -1}, "memory=-1 is not accepted"),
    ({"memory": "all"}, "memory='all' is not accepted"),
    ({"memory": True}, "memory=True is not accepted"),
    ({"rescue": "perhaps"}, "give true or false"),
    ({"rescue": 1}, "give true or false"),
    ({"shaping": "papr"}, "Did you mean paper?"),
    ({"shaping": 3}, "shaping=3 is not accepted"),
    ({"shaping": "nowhere:f"}, "there is no module nowhere"),
    ({"weights": "1,2"}, "four finite numbers"),
    ({"weights": "a,b,c,d"}, "weights='a,b,c,d' is not accepted"),
    ({"throughput": "meals"}, "throughput='meals' is not known"),
    ({"variance": "none"}, "variance='none' is not known"),
    ({"shaping": "proportional", "variance": "sample"}, "takes no weights"),
    ({"philosopher": "nowhere:careful"}, "there is no module nowhere"),
    ({"philosopher": "careful"}, "give package.module:name"),
    ({"philosopher": 5}, "philosopher=5 is not accepted"),
    ({"seed": -1}, "seed must be a whole number from 0"),
    ({"seed": 2**80}, "seed must be a whole number from 0"),
    ({"seed": "x"}, "seed must be a whole number from 0"),
    ({"episode": 3}, "Did you mean episodes?"),
    ({"players": 3}, "players=3 is not accepted: name two players or more"),
]


def refused(result: Result) -> str:
    """The sentence of a refusal: no traceback, a non-zero status, nothing on stdout."""
    assert result.exit_code in (1, 2), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert not result.stdout
    return result.stderr


@pytest.mark.parametrize(("use", "said"), VERB_USES, ids=[use[:40] for use, _ in VERB_USES])
def test_a_verb_refuses_what_is_wrong_in_one_sentence(
    use: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    error = refused(CliRunner().invoke(main, use.split()))
    assert said in error
    assert sum(line.startswith("Error: ") for line in error.splitlines()) == 1
    assert len(error) < 1000
    assert not list(tmp_path.iterdir()), "nothing is left behind"


@pytest.mark.parametrize(("arguments", "said"), TASK_USES, ids=["-".join(use) for use, _ in TASK_USES])
def test_the_task_refuses_what_is_wrong_in_one_sentence(arguments: Mapping[str, object], said: str) -> None:
    with pytest.raises(BadInput) as error:
        philosophers(**arguments)  # type: ignore[arg-type]  # wrong on purpose
    assert said in error.value.message
    assert "\n" not in error.value.message
    assert len(error.value.message) < 600


def test_there_are_a_hundred_wrong_uses_and_some_of_every_verb() -> None:
    assert len(VERB_USES) + len(TASK_USES) >= 100
    assert {use.split()[0] for use, _ in VERB_USES} >= set(VERBS)


@pytest.mark.parametrize(
    ("model", "bound", "accepted"),
    [
        ("none/none", (), False),
        ("none/none", ("seat_0",), False),
        ("none/none", ("seat_0", "seat_1"), True),
        ("dining/wave", (), True),
        (None, (), True),
    ],
)
def test_a_run_in_which_a_seat_has_no_model_is_refused(
    model: str | None, bound: tuple[str, ...], accepted: bool
) -> None:
    """Inspect starts such a run, and it ends in a traceback and a log of `none/none`."""
    roles = dict.fromkeys(bound, "dining/think")
    if accepted:
        refuse_missing_model(model, roles, 2)
    else:
        with pytest.raises(BadInput, match="No model was given: add --model"):
            refuse_missing_model(model, roles, 2)


def test_every_verb_takes_h_and_is_quick_to_say_so() -> None:
    for verb in VERBS:
        long, short = (CliRunner().invoke(main, [verb, flag]) for flag in ("--help", "-h"))
        assert short.exit_code == 0
        assert short.output == long.output


def test_play_and_best_meals_take_whole_numbers_of_numpy_and_refuse_the_rest() -> None:
    rules = Rules(np.int64(5), rounds=np.int32(6))  # type: ignore[arg-type]  # numpy's whole numbers
    assert play(rules, "wave", seed=np.uint64(7)) == play(Rules(5, rounds=6), "wave", seed=7)  # type: ignore[arg-type]
    assert play(rules, "wave", seed=7).to_json() == play(Rules(5, rounds=6), "wave", seed=7).to_json()
    assert best_meals(np.int64(5), np.int64(30)) == best_meals(5, 30)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"play\(5, ...\) is not accepted"):
        play(5, "wave")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="players=7 is not accepted"):
        play(Rules(3), 7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"seed=1\.5 is not accepted"):
        play(Rules(3), "wave", seed=1.5)  # type: ignore[arg-type]
    for n, rounds in (("a", 3), (True, 3), (5, None), (5.0, 3), (1, 3)):
        with pytest.raises(ValueError, match="must be a whole number of at least 2"):
            best_meals(n, rounds)  # type: ignore[arg-type]
