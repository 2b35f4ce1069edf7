"""The smallest and largest accepted numbers of a run, a verb or a table; others are refused in a sentence."""

LIMITS = {
    "n": (2, 100),
    "episodes": (1, 10_000),
    "rounds": (3, 1_000),
    "patience": (1, 1_000),
    "talk": (0, 100),
    "seed": (0, 2**63 - 1),
}
"""The smallest and largest value of each number, by its name."""
MOST_CALLS = 10_000_000
"""The maximum model calls, or scripted turns, that one command may plan."""
