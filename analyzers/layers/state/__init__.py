"""State of the layer analysis: bounded tables, each with a counter of what it dropped."""
