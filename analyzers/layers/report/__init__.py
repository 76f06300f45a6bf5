"""The report of a job's layers, made of the tables."""
