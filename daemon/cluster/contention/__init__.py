"""Contention between the jobs of all partitions: results go through NATS, and one process analyzes them."""
