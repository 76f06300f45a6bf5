"""Conversion of events to calls: nesting, and aggregation of equal calls."""
