"""Players that need no model: the scripted ones, those that talk, and whole games of any of them."""
