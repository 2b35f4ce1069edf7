"""Players without a model: scripted players, talking players, and whole games between them."""
