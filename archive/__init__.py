"""Lossless record of every call of a job in near-constant space.

It uses signatures, a grammar, and patterns across ranks.
"""
