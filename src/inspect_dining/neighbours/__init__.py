"""The game behind the doors of other libraries: PettingZoo (extra `pettingzoo`) and Inspect Scout (extra `scout`)."""
