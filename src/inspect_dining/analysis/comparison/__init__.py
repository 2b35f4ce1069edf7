"""Comparing players on the same games: rows, contrasts and their families."""
