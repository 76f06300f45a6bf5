"""Scheduling of jobs that share one file system's bandwidth. A fluid model simulates it."""
