"""Who in a job has which period: members told apart in bounded tables, and groups of them that do I/O together."""
