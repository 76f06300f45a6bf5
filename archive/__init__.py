"""Lossless record of every call of a job in near-constant space: signatures, a grammar, patterns across ranks."""
