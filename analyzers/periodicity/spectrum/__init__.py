"""Spectrum of a signal, its peaks, and its autocorrelation."""
