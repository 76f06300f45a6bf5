"""State of a graph: bounded tables, each with a counter of what it dropped."""
