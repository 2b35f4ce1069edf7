"""Credit: what every turn is worth, by the group's mean, by a central critic, or by that critic and replay."""
