"""Showing a run: the terminal display and learning curves."""
