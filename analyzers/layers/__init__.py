"""Layers of an I/O stack: nesting of calls, time per layer, and how requests change on their way down."""
