"""One seat: its prompt and tools, the reading of its replies, the graph that decides, and the `dining/` provider."""
