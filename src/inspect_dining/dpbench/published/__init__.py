"""Reading the files that DPBench itself writes and publishes."""
