"""The model provider `dining/`: scripted players and trained checkpoints."""
