"""DPBench's game (PyPI dpbench, MIT; arXiv 2602.13255): four actions, text replies, six metrics; exact or corrected.

`rules`, `table`, `view`, `game`, `record` and `metrics` are the game and need no Inspect; `files` reads what dpbench
itself writes; `dinner` and `scores` are for the task `inspect_dining/dpbench`.
"""
