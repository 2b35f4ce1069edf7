"""A run on disk: its directory and checkpoints."""
