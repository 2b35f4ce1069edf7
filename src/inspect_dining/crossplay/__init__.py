"""Cross-play: several players at one table, and what mixing them costs.

from inspect_dining.crossplay import cross_play

matrix = cross_play(["odd_even", "wave"], Rules(n=5), games=120)
print(matrix.cell("odd_even", "wave").efficiency.mean)
"""

from inspect_dining.crossplay.matrix import Matrix, Mixing, PairResult, PlayedGame, Regret, cross_play, matrix_of
from inspect_dining.crossplay.seatings import Seated, arrangements, seating
from inspect_dining.crossplay.shapley import shapley_values

__all__ = [
    "Matrix",
    "Mixing",
    "PairResult",
    "PlayedGame",
    "Regret",
    "Seated",
    "arrangements",
    "cross_play",
    "matrix_of",
    "seating",
    "shapley_values",
]
