"""The comparison of models: what stands in a row, which contrasts are made, and what is refused."""

import time
from statistics import correlation, fmean, stdev

import numpy as np
import pytest
from inspect_ai.log import EvalLog
from scipy.stats import permutation_test

from inspect_dining.analysis.comparison.compare import Comparison, compare
from inspect_dining.analysis.comparison.rows import Row
from inspect_dining.analysis.inputs.collection import read
from inspect_dining.audit.ladder import games
from inspect_dining.errors import BadInput
from inspect_dining.scorers.catalogue import SCORES
from inspect_dining.scorers.shaping import shaping
from inspect_dining.scorers.terms import terms
from inspect_dining.statistics import (
    by_game,
    exact_test,
    holm,
    mcnemar,
    newcombe,
    paired,
    welch,
    welch_power,
)
from inspect_dining.table import Rules, play
from inspect_dining.table.moves import Kind
from tests.analysis.made import log, played, run, sample

RULES = Rules(n=3, rounds=12)


def _compared(*logs: EvalLog, **options: object) -> Comparison:
    primary, separate = str(options.pop("primary", "efficiency")), bool(options.pop("separate", False))
    baseline = options.pop("baseline", None)
    assert not options
    return compare(
        read(logs),
        primary=primary,
        separate=separate,
        baseline=None if baseline is None else str(baseline),
        ladder_episodes=0,
    )


def _row(found: Comparison) -> Row:
    (section,) = found.sections
    return section.rows[0]


def test_a_row_tells_the_means_over_episodes() -> None:
    """Against the plain mean of the terms, for every score."""
    row = _row(_compared(run("m/x", "lehmann_rabin", RULES, 12)))
    all_terms = [terms(record) for record in played("lehmann_rabin", RULES, 12).values()]
    reward = shaping("paper")
    for name, outcome in SCORES.items():
        expected = fmean(reward(t) if outcome.value is None else outcome.value(t) for t in all_terms)
        assert row.summary.estimates[name].mean == pytest.approx(expected, abs=1e-9)
        assert row.summary.estimates[name].episodes == 12


def test_epochs_are_episodes_of_their_own() -> None:
    """Averaging epochs first would shrink the spread and hide the number of games."""
    samples = [
        sample(play(RULES, "lehmann_rabin", epoch=epoch), name, RULES, epoch=epoch)
        for name in ("n03-s0-e000", "n03-s0-e001")
        for epoch in (1, 2, 3)
    ]
    row = _row(_compared(log("m/x", samples, epochs=3, rounds=12)))
    assert row.counts is not None
    assert row.counts.planned == row.counts.scored == row.summary.estimates["efficiency"].episodes == 6


def test_planned_scored_cut_errored_and_missing_are_counted_apart() -> None:
    record = play(RULES, "odd_even")
    cut = type(record)(record.rules, record.seed, "cut: token limit", record.rounds[:2], record.hashes[:2])
    names = [f"n03-s0-e{i:03d}" for i in range(5)]
    made = [
        sample(record, names[0], RULES),
        sample(cut, names[1], RULES),
        sample(None, names[2], RULES, error="TimeoutError: no reply\nmore"),
    ]
    found = _compared(log("m/x", made, planned=names, rounds=12))
    counts = _row(found).counts
    assert counts is not None
    assert (counts.planned, counts.scored, counts.cut, counts.errored, counts.not_played) == (5, 1, 1, 1, 2)
    assert any("1 cut: token limit; 1 errored: TimeoutError: no reply; 2 without a trace" in n for n in found.notes)


def test_a_run_that_never_reached_a_size_still_stands_in_its_table() -> None:
    """A killed run must not vanish from the table of n = 5."""
    names = ["n03-s0-e000", "n05-s0-e000", "n05-s0-e001"]
    found = _compared(
        log("m/x", [sample(play(RULES, "wave"), names[0], RULES)], planned=names, rounds=12, status="started")
    )
    assert [section.n for section in found.sections] == [3, 5]
    counts = found.sections[1].rows[0].counts
    assert counts is not None
    assert (counts.planned, counts.scored) == (2, 0)


def test_distinct_counts_what_happened_and_not_seeds() -> None:
    """A deterministic player gives one game under many seeds: 30 of them are no evidence of 30 games."""
    found = _compared(run("m/x", "left_first", RULES, 30))
    counts = _row(found).counts
    assert counts is not None
    assert (counts.scored, counts.distinct) == (30, 1)
    assert any("only 1 of 30 records is distinct" in note for note in found.notes)


def test_survival_falls_with_every_deadlock() -> None:
    all_terms = [terms(record) for record in played("lehmann_rabin", RULES, 20).values()]
    summary = _row(_compared(run("m/x", "lehmann_rabin", RULES, 20))).summary
    assert list(summary.survival) == [5, 12]
    for number, share in enumerate(summary.curve):
        alive = [not (t.deadlocked and t.played <= number) for t in all_terms]
        assert share == pytest.approx(fmean(alive))
    assert summary.survival[5].mean == pytest.approx(summary.curve[5])
    assert summary.curve[-1] == summary.estimates["no_deadlock"].mean


def test_the_first_round_is_read_against_independent_seats() -> None:
    """Seats that toss one coin lock as often as the same coins tossed apart would; seats that agree lock always."""
    apart = _row(_compared(run("m/x", "lehmann_rabin", RULES, 400))).first
    agree = _row(_compared(run("m/x", "left_first", RULES, 12))).first
    assert apart is not None
    assert agree is not None
    assert apart.left + apart.right == pytest.approx(1.0)
    assert apart.independent == pytest.approx(apart.left**3 + apart.right**3)
    assert apart.locked.interval is not None
    assert apart.locked.interval.low <= apart.independent <= apart.locked.interval.high
    assert (agree.locked.mean, agree.independent) == (1.0, 1.0)


def test_lost_turns_are_told_by_kind() -> None:
    row = _row(_compared(run("m/x", ["silent", "think", "think"], RULES, 4)))
    assert row.summary.lost[Kind.NO_CALL] == 4 * RULES.rounds
    assert sum(row.summary.lost.values()) == 4 * RULES.rounds
    assert row.summary.turns == 4 * RULES.rounds * 3


def test_cost_is_unknown_unless_every_game_has_one_and_undefined_without_meals() -> None:
    """A cost of 0 where nobody knows it would make any model look free."""
    games = list(played("odd_even", RULES, 2).items())
    known = log("m/x", [sample(record, name, RULES, cost=0.25) for name, record in games], rounds=12)
    half = log("m/x", [sample(games[0][1], games[0][0], RULES, cost=0.25), sample(games[1][1], games[1][0], RULES)])
    spent = _row(_compared(known)).spent
    assert spent is not None
    assert spent.cost_per_meal is not None
    assert spent.cost_per_meal == pytest.approx(0.5 / sum(terms(record).eaten for _, record in games))
    unknown = _row(_compared(half)).spent
    assert unknown is not None
    assert (unknown.cost, unknown.cost_per_meal) == (None, None)
    hungry = _row(_compared(run("m/x", "silent", RULES, 2))).spent
    assert hungry is not None
    assert hungry.tokens_per_meal is None


def test_contrasts_of_different_games_are_welchs_and_boschloos_of_the_raw_scores() -> None:
    first, second = run("m/a", "lehmann_rabin", RULES, 30), run("m/b", "odd_even", RULES, 30, seed=1)
    (section,) = _compared(first, second).sections
    a, b = (row.summary.values for row in section.rows)
    by_outcome = {contrast.outcome: contrast for contrast in section.contrasts}
    efficiency, deadlock = by_outcome["efficiency"], by_outcome["no_deadlock"]
    test = welch(a["efficiency"], b["efficiency"])
    assert test is not None
    assert (efficiency.pairs, efficiency.p, efficiency.means, efficiency.interval) == (0, test.p, test, test.interval)
    below, above = efficiency.detectable
    assert above is not None
    spreads = stdev(a["efficiency"]), stdev(b["efficiency"])
    assert welch_power(above, *spreads, 30, 30) == pytest.approx(0.8, abs=1e-6)
    assert below == -above
    counts = int(sum(a["no_deadlock"])), 30, int(sum(b["no_deadlock"])), 30
    assert deadlock.exact == exact_test(*counts)
    assert deadlock.exact is not None
    assert deadlock.p == deadlock.exact.p
    assert deadlock.interval == newcombe(*counts)


def test_contrasts_of_the_same_games_are_paired_and_agree_with_a_permutation_of_the_pairs() -> None:
    """Under the hypothesis that neither is better, each pair could as well have come the other way round."""
    first, second = run("m/a", "odd_even", Rules(5, 30), 30), run("m/b", ["hog", *["odd_even"] * 4], Rules(5, 30), 30)
    (section,) = _compared(first, second).sections
    (reward,) = (contrast for contrast in section.contrasts if contrast.outcome == "reward")
    a, b = (row.summary.values["reward"] for row in section.rows)
    assert reward.pairs == 30
    assert reward.means is not None
    assert reward.means.correlation is not None
    assert reward.means.correlation == pytest.approx(correlation(a, b)) == pytest.approx(0.72, abs=0.005)
    flips = permutation_test((np.subtract(b, a),), np.mean, permutation_type="samples", n_resamples=20_000, rng=1)
    assert reward.p == pytest.approx(flips.pvalue, abs=0.01) == pytest.approx(0.056, abs=0.01)
    unpaired = welch(a, b)
    assert unpaired is not None
    assert reward.unpaired_p == unpaired.p == pytest.approx(0.30, abs=0.005)


def test_shares_of_the_same_games_are_mcnemars() -> None:
    logs = run("m/a", "lehmann_rabin", RULES, 30), run("m/b", "odd_even", RULES, 30)
    (section,) = _compared(*logs).sections
    (deadlock,) = (contrast for contrast in section.contrasts if contrast.outcome == "no_deadlock")
    a, b = (row.summary.values["no_deadlock"] for row in section.rows)
    only = sum(x > y for x, y in zip(a, b, strict=True)), sum(y > x for x, y in zip(a, b, strict=True))
    assert deadlock.exact == mcnemar(*only)
    assert deadlock.pairs == 30


def test_epochs_of_a_game_count_once_in_every_interval_and_test() -> None:
    def repeated(model: str, player: str) -> EvalLog:
        epochs = [played(player, RULES, 26, epoch=epoch) for epoch in (1, 2, 3)]
        samples = [
            sample(record, name, RULES, epoch=number)
            for number, games in enumerate(epochs, 1)
            for name, record in games.items()
        ]
        return log(model, samples, epochs=3, rounds=12)

    found = _compared(repeated("m/a", "lehmann_rabin"), repeated("m/b", "random"))
    (section,) = found.sections
    row = section.rows[0]
    estimate = row.summary.estimates["efficiency"]
    assert (estimate.episodes, estimate.games) == (78, 26)
    means = [*by_game(row.summary.values["efficiency"], row.summary.games).values()]
    other = [*by_game(section.rows[1].summary.values["efficiency"], section.rows[1].summary.games).values()]
    by_outcome = {contrast.outcome: contrast for contrast in section.contrasts}
    assert by_outcome["efficiency"].means == paired(means, other)
    assert by_outcome["no_deadlock"].exact is None, "a mean of epochs is no success or failure"
    assert any("78 scored episodes are epochs of 26 games" in note for note in found.notes)


def test_what_would_not_hold_is_not_printed_and_the_notes_say_why() -> None:
    found = _compared(run("m/a", "lehmann_rabin", RULES, 12), run("m/b", "odd_even", RULES, 12, seed=1))
    (section,) = found.sections
    efficiency = next(contrast for contrast in section.contrasts if contrast.outcome == "efficiency")
    assert (efficiency.p, efficiency.means, efficiency.why) == (None, None, "12 games, and it takes 25")
    assert any("no interval of efficiency" in note and "(12 games, and it takes 25)" in note for note in found.notes)
    assert any("No t-test would hold (12 games, and it takes 25): efficiency B - A" in note for note in found.notes)
    lopsided = _compared(run("m/a", "lehmann_rabin", RULES, 26), run("m/b", "odd_even", RULES, 60, seed=1))
    assert lopsided.sections[0].contrasts[0].why == "26 against 60 games"


def test_the_primary_outcome_is_one_family_and_all_others_are_another() -> None:
    """Over all pairs and sizes: picking the best of ten outcomes or of three sizes must cost."""
    small = Rules(n=2, rounds=12)
    logs = [run(f"m/{p}", p, rules, 12) for p in ("random", "odd_even", "lehmann_rabin") for rules in (RULES, small)]
    found = _compared(*logs, primary="no_deadlock")
    contrasts = [contrast for section in found.sections for contrast in section.contrasts]
    for primary in (True, False):
        family = [contrast for contrast in contrasts if contrast.primary is primary]
        assert [c.p_holm for c in family] == holm([c.p for c in family])
    assert {c.outcome for c in contrasts if c.primary} == {"no_deadlock"}
    assert len([c for c in contrasts if c.primary]) == 6


def test_an_outcome_that_is_another_one_scaled_is_not_tested_twice() -> None:
    """At equal n and T throughput is efficiency times a constant; twice in the family it would only cost."""
    logs = [run("m/a", "random", RULES, 5), run("m/b", "odd_even", RULES, 5)]
    tested = [contrast.outcome for contrast in _compared(*logs).sections[0].contrasts]
    assert "throughput" not in tested
    assert "efficiency" not in [c.outcome for c in _compared(*logs, primary="throughput").sections[0].contrasts]
    shaped = compare(read(logs), shaping=shaping("proportional"), ladder_episodes=0)
    assert "proportional" not in [contrast.outcome for contrast in shaped.sections[0].contrasts]


def test_a_baseline_is_contrasted_with_every_other_model_and_comes_first() -> None:
    logs = [run(f"m/{p}", p, RULES, 4) for p in ("random", "odd_even", "wave")]
    found = _compared(*logs, baseline="odd")
    pairs = {(c.first.label, c.second.label) for c in found.sections[0].contrasts}
    assert pairs == {("m/odd_even", "m/random"), ("m/odd_even", "m/wave")}
    with pytest.raises(BadInput, match="could be m/odd_even or m/random or m/wave"):
        _compared(*logs, baseline="m/")
    with pytest.raises(BadInput, match="names no model"):
        _compared(*logs, baseline="gpt")


@pytest.mark.parametrize(
    ("there", "difference"),
    [
        ({"rules": Rules(n=3, rounds=14)}, "rounds is 12 in .* and 14 in"),
        ({"rules": Rules(n=3, rounds=12, patience=3)}, "patience is 1 in .* and 3 in"),
        ({"rules": Rules(n=3, rounds=12, hint="parity")}, "hint is none in .* and parity in"),
        ({"memory": 4}, "memory is 0 in .* and 4 in"),
        ({"shaping": "proportional"}, "reward is paper.* and proportional in"),
        ({"prompt": "f00"}, "prompt is 1920721c in .* and f00 in"),
        ({"version": "2-A"}, "version is 1-A in .* and 2-A in"),
        ({"toasts": 2}, "toasts is not set in .* and 2 in"),
        ({"rules": Rules(n=3, rounds=12, talk=2)}, "talk is 0 in .* and 2 in"),
        ({"rules": Rules(n=3, rounds=12, sight="neighbours")}, "sight is local in .* and neighbours in"),
    ],
)
def test_unequal_games_are_refused_with_what_differs_or_kept_apart(there: dict[str, object], difference: str) -> None:
    rules = there.get("rules", RULES)
    assert isinstance(rules, Rules)
    more = {name: value for name, value in there.items() if name not in ("rules", "prompt", "version")}
    other = log(
        "m/b",
        [sample(record, name, rules) for name, record in played("wave", rules, 3).items()],
        rounds=rules.rounds,
        hint=rules.hint,
        patience=rules.patience,
        arguments=more,
    )
    assert other.eval.metadata is not None
    other.eval.metadata["prompt"] = [there.get("prompt", "1920721c")]
    other.eval.task_version = str(there.get("version", "1-A"))
    logs = run("m/a", "wave", RULES, 3), other
    with pytest.raises(BadInput, match=difference):
        _compared(*logs)
    apart = _compared(*logs, separate=True)
    assert len(apart.sections) == 2
    assert not any(section.contrasts for section in apart.sections)


def test_one_shaping_for_all_lets_runs_of_unequal_reward_be_compared() -> None:
    """Scores derive from records, so no game need be played again."""
    paper, fair = run("m/a", "odd_even", RULES, 3), run("m/b", "random", RULES, 3)
    fair.eval.task_args["shaping"] = "proportional"
    found = compare(read([paper, fair]), shaping=shaping("meal_gated"), ladder_episodes=0)
    values = found.sections[0].rows[1].summary.values["reward"]
    expected = [shaping("meal_gated")(terms(record)) for record in played("random", RULES, 3).values()]
    assert values == pytest.approx(expected)


def test_runs_of_one_player_are_pooled_and_labels_tell_players_apart() -> None:
    """A greedy and a sampled run of one checkpoint are two players; two seeds of one are the same player."""
    greedy, sampled, more = (run("dining/checkpoint", "odd_even", RULES, 3, seed=s) for s in (0, 0, 1))
    greedy.eval.model_generate_config.temperature = 0.0
    greedy.eval.task_id, more.eval.task_id = "greedy", "more"
    for made in (greedy, sampled, more):
        made.eval.model_args = {"path": "RUN/best", "port": made.eval.task_id}
    (section,) = _compared(greedy, sampled, more).sections
    assert [(row.letter, row.label) for row in section.rows] == [
        ("A", "dining/checkpoint (temperature=0.0)"),
        ("B", "dining/checkpoint (temperature=default)"),
    ]
    assert [row.counts.scored for row in section.rows if row.counts] == [3, 6]


def test_a_mixed_table_is_named_by_its_seats() -> None:
    made = run("m/a", ["hog", "odd_even", "odd_even"], RULES, 3)
    made.eval.model_roles = log("x", [], roles={"seat_0": "m/b"}).eval.model_roles
    row = _row(_compared(made))
    assert row.label == "m/a + seat_0 m/b"
    assert row.seated == ["m/b", "m/a", "m/a"]


def test_the_ladder_stands_beside_the_models_best_first() -> None:
    found = compare(read([run("m/a", "wave", RULES, 3)]), ladder_episodes=20)
    ladder = found.sections[0].ladder
    means = [row.summary.estimates["efficiency"].mean or 0.0 for row in ladder]
    assert means == sorted(means, reverse=True)
    (random,) = (row for row in ladder if row.label == "random")
    expected = fmean(t.no_deadlock for t in games(RULES, "random", 20))
    assert random.summary.estimates["no_deadlock"].mean == pytest.approx(expected)


def test_nothing_scored_is_undefined_everywhere_and_never_raises() -> None:
    made = log("m/a", [sample(None, "n03-s0-e000", RULES, error="RuntimeError: down")], rounds=12)
    found = compare(read([made, run("m/b", "wave", RULES, 3)]), ladder_episodes=2)
    contrast = found.sections[0].contrasts[0]
    assert (contrast.difference, contrast.p, contrast.means, contrast.detectable) == (None, None, None, (None, None))
    assert found.sections[0].rows[0].summary.estimates["efficiency"].mean is None


@pytest.mark.slow
def test_sizes_from_2_to_20_are_tables_of_their_own() -> None:
    logs = [run(f"m/{p}", p, Rules(n=n, rounds=5), 2) for n in range(2, 21) for p in ("odd_even", "random")]
    found = compare(read(logs), ladder_episodes=2)
    assert [section.n for section in found.sections] == list(range(2, 21))
    assert all(len(section.rows) == 2 for section in found.sections)


def test_an_unknown_primary_outcome_is_refused() -> None:
    with pytest.raises(BadInput, match="no outcome 'deadlocks'; accepted: efficiency"):
        _compared(run("m/a", "wave", RULES, 2), primary="deadlocks")


def test_a_primary_outcome_that_cannot_be_computed_is_refused() -> None:
    """Else the table would show no primary contrast at all, and no reason."""
    made = run("m/a", "wave", RULES, 2)
    made.eval.task_args["shaping"] = "not_installed:reward"
    with pytest.raises(BadInput, match="reward cannot be computed for m/a at n = 3: name a --shaping"):
        _compared(made, primary="reward")


def test_epochs_that_repeat_one_game_are_told() -> None:
    """Thirty games three times over are thirty observations, however many episodes that makes."""
    samples = [
        sample(record, name, RULES, epoch=epoch)
        for name, record in played("odd_even", RULES, 30).items()
        for epoch in (1, 2, 3)
    ]
    found = _compared(log("m/x", samples, epochs=3, rounds=12))
    assert any("of 90 records are distinct. Repeated games are no further evidence" in note for note in found.notes)


@pytest.mark.slow
def test_ten_thousand_episodes_are_compared_in_seconds() -> None:
    """The comparison after reading; contrasts of 2,500 against 2,500 episodes included."""
    rules = Rules(n=2, rounds=3)
    kinds = [sample(play(rules, player), "n02-s0-e000", rules) for player in ("odd_even", "silent")]
    names = [f"n02-s0-e{e:04d}" for e in range(2500)]
    logs = [
        log(f"m/{i}", [kinds[e % 3 == 0].model_copy(update={"id": name}) for e, name in enumerate(names)], rounds=3)
        for i in range(4)
    ]
    collection = read(logs)
    start = time.process_time()
    found = compare(collection)
    assert time.process_time() - start < 6.0
    assert [row.counts.scored for row in found.sections[0].rows if row.counts] == [2500] * 4
