"""The game in other libraries: PettingZoo (extra `pettingzoo`) and Inspect Scout (extra `scout`)."""
