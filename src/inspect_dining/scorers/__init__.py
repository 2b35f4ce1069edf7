"""Scores: the terms of a record, shapings of them, and the Inspect scorers and metrics over both.

This file imports nothing, because `scorers.terms` and `scorers.shaping` must not import Inspect.
"""
