"""Analyses of finished traces."""
