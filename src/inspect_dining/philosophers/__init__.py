"""One seat: its prompt and tools, the reading of its replies, and the graph that decides."""
