"""Scheduling of jobs that share one file system's bandwidth, and a fluid model that simulates it."""
