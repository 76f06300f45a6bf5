"""Contention between jobs on file systems, computed from their public results."""
