"""Playing games for training: the policy, rollouts, loading models, and vLLM."""
