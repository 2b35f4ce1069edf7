"""The least and the most that a run, a verb or a table may be asked for; what lies outside is refused in a sentence."""

LIMITS = {
    "n": (2, 100),
    "episodes": (1, 10_000),
    "rounds": (3, 1_000),
    "patience": (1, 1_000),
    "talk": (0, 100),
    "seed": (0, 2**63 - 1),
}
"""The least and the most of each number, by its name."""
MOST_CALLS = 10_000_000
"""The most model calls, or scripted turns, that one command may plan."""
