"""What talk takes is known before a run."""

from inspect_dining.planning.plan import plan


def test_a_plan_counts_messages_and_the_placebos_other_game() -> None:
    assert plan([5], 10, 30).calls == 1500
    assert plan([5], 10, 30, talk=2).calls == 4500
    assert plan([5, 10], 10, 30, talk=1, talk_control="shuffled").calls == 4 * 10 * 30 * 15
