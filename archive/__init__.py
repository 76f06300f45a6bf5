"""The record of every call of a job in near-constant space: signatures, a grammar over them, patterns across ranks."""
