"""What a graph is kept in: bounded tables, each of which counts what it dropped."""
