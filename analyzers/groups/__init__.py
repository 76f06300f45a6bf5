"""Who in a job has which rhythm: members told apart in bounded tables, and groups of them that do I/O together."""
