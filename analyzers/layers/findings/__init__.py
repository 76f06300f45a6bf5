"""Findings in the layer tables that are worth fixing."""
