"""Traces of kernel events."""
