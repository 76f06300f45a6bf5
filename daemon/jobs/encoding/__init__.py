"""Encoding of jobs' data for the members and partitions of a cluster."""
