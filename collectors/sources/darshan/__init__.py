"""Darshan's logs."""
