"""Incremental, pure analyses of a job's I/O. No clock, no I/O, no threads, no sockets."""
