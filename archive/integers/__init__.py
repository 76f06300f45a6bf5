"""Integers as few bytes: variable-length numbers, packed columns, decimal digits."""
