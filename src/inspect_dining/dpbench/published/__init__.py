"""What DPBench itself has written and published, read again."""
