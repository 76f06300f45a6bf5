"""Sections of a report, one module per section."""
