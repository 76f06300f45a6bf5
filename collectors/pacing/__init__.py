"""Pacing: which jobs of this node wait for their turn on a file system, and telling their processes so."""
