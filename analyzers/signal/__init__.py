"""Binning of bytes over time to a signal, at several resolutions."""
