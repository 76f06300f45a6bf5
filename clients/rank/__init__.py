"""How who interacts with whom is shown."""
