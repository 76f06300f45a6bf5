"""Spectrum, its peaks, autocorrelation."""
