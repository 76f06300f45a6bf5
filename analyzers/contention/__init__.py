"""How jobs get into one another's way on file systems: a function of their public results."""
