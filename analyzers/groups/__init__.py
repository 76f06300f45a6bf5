"""Members of a job in bounded tables, groups of members that do I/O together, and their periods."""
