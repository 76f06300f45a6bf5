"""Pacing. It decides which jobs of this node wait for a file system, and tells their processes."""
