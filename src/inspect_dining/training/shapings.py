"""A shaping without the "one meal each, then stop" optimum, for recipes to name by `module:function`."""

from inspect_dining.scorers.terms import Terms


def fair_efficiency(episode: Terms) -> float:
    """Efficiency times Jain's index times the share of seats fed; less 0.1 if deadlocked, less 0.05 lost turns.

    From -0.15 to 1. Linear in the meals of an even table, so the tenth meal pays like the first. Where a third of the
    seats starve, Jain's index and the share fed are at most 2/3 each, so that less is earned than by an even table
    with half the meals. `think` and actions without effect are free.
    """
    fair = episode.efficiency * episode.jain * (1 - episode.starved)
    return fair - 0.1 * episode.deadlocked - 0.05 * episode.lost_turns
