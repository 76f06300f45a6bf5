"""Compact encodings of integers: variable-length numbers, packed columns, decimal digits."""
