"""Contention between the jobs of all partitions. Results go through NATS, and one process analyzes them."""
