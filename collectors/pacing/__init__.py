"""Pacing: decide which jobs of this node wait for a file system, and tell their processes."""
