"""Bug for bug: what dpbench 0.2.1 did, and what this package does with the same replies."""

import json
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from tests.dpbench.episodes import jobs, played, their_prompt
from tests.dpbench.job import Job

HERE = Path(__file__).parent
GOLDEN = HERE / "golden.jsonl"
"""What dpbench 0.2.1 did with `frozen_jobs()`, long parts as digests: `freeze` of the accounts of `peer.py`."""


def frozen_jobs() -> list[Job]:
    """The episodes of the golden file."""
    return list(jobs(4, range(3, 6, 2)))


def freeze(accounts: list[dict[str, object]]) -> str:
    """The golden file of dpbench's accounts of `frozen_jobs()`."""
    return "".join(json.dumps(condensed(aligned(account))) + "\n" for account in accounts)


def aligned(theirs: dict[str, object]) -> dict[str, object]:
    """An account of dpbench with what was shown in the words of `prompt_of`."""
    shown = theirs["shown"]
    assert isinstance(shown, list)
    return {**theirs, "shown": sorted(([seat, turn, their_prompt(text)] for seat, turn, text in shown), key=str)}


def condensed(account: dict[str, object]) -> dict[str, object]:
    """An account with digests in place of every state and of everything that was shown."""
    long = ("states", "shown")
    return {k: sha256(json.dumps(v).encode()).hexdigest()[:16] if k in long else v for k, v in account.items()}


def differences(job: Job, ours: dict[str, object], theirs: dict[str, object]) -> list[str]:
    """Where two accounts of a job differ."""
    return [
        f"{name}: {ours[name]!r} is not {theirs[name]!r} in {job['options']}"
        for name in ours
        if not same(ours[name], theirs[name])
    ]


def same(one: object, other: object) -> bool:
    """Whether two values are equal; numbers to the last bits of a sum that was done in another order."""
    if isinstance(one, float) and isinstance(other, float | int):
        return abs(one - other) < 1e-12
    return one == other


def test_a_frozen_account_of_dpbench_is_played_again_step_by_step() -> None:
    accounts = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    todo = frozen_jobs()
    assert len(accounts) == len(todo) == 64
    wrong = [
        one
        for job, theirs in zip(todo, accounts, strict=True)
        for one in differences(job, condensed(played(job)), theirs)
    ]
    assert wrong == []


@pytest.mark.slow
def test_hundreds_of_random_episodes_are_those_of_dpbench_step_by_step() -> None:
    """Every mode, 2 to 10 philosophers: all that is shown, every state, and the six metrics."""
    python = HERE.parents[1] / ".venv-dpbench" / "bin" / "python"
    if not python.exists():
        pytest.fail("`make test-real` makes .venv-dpbench, which holds dpbench")
    todo = list(jobs(8))
    assert len(todo) == 576
    ran = subprocess.run(
        [str(python), str(HERE / "peer.py")],
        input="".join(json.dumps(job) + "\n" for job in todo),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=1200,
    )
    accounts = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(accounts) == len(todo)
    wrong = [
        one
        for job, theirs in zip(todo, accounts, strict=True)
        for one in differences(job, played(job), aligned(theirs))
    ]
    assert wrong == []
    ended = [theirs["timesteps"] for theirs in accounts]
    assert min(ended) == 1
    assert len({json.dumps(theirs["states"]) for theirs in accounts}) > 500
