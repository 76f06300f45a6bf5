"""Contention over the jobs of all partitions: results travel through NATS, and one process analyzes them."""
