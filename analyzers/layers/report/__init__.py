"""Report of a job's layers, created from the tables."""
