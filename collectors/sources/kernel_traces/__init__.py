"""Traces of the kernel's own events."""
