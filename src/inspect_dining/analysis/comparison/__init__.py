"""Comparing players on equal games: rows, contrasts and their families."""
