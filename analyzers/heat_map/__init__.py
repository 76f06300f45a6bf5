"""Heat map of a job's I/O by member and time."""
