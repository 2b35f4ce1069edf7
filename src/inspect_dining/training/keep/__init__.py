"""What a run keeps on disk: its directory and checkpoints."""
