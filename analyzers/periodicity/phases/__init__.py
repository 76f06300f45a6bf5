"""Phases of a signal, their volumes and how regularly they come."""
