"""Layers of an I/O stack.

The analysis covers nesting of calls, time per layer, and changes of requests on their way down.
"""
