"""Live views of a job in a terminal."""
