"""What layers are kept in: bounded tables, each of which counts what it dropped."""
