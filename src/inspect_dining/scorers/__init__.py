"""Scores: the terms of a record, shapings of them, and the Inspect scorers and metrics over both.

Nothing is imported here, since `scorers.terms` and `scorers.shaping` are free of Inspect.
"""
