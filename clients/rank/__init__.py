"""Output of interaction rankings."""
