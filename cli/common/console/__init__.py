"""Shared console output: problems of inputs, the log, tables, progress."""
