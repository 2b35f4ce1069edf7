"""Planning a run: episodes, power, calls, tokens, cost, and the paper's systems as presets."""
