"""Merge the common data of a job's streams over its ranks."""
