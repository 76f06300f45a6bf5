"""Shared command line parts: options, their types, grouped help."""
