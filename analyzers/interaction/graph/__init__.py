"""Interaction graph and its ranking."""
