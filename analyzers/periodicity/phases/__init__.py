"""Phases of a signal, their volumes and their regularity."""
