"""OpenPipe ART as a learner: the learner here, its child process, and trajectories in ART's format."""
