"""Public form of the ranking."""
