"""Learning from groups of games: the objective, the torch learner, and OpenPipe ART."""
