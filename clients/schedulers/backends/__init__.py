"""Backends that apply rate limits to jobs."""
