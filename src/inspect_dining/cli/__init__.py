"""The verbs of `python -m inspect_dining`: one file per verb."""
