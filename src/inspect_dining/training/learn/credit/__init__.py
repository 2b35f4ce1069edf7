"""Credit: the value of every turn, by the group's mean, by a central critic, or by that critic and replay."""
