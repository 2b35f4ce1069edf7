"""OpenPipe ART as a learner: the learner here, its child process, and trajectories as ART takes them."""
