"""The ranking as it is told."""
