"""Traces of dftracer."""
