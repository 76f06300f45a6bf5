"""Layers of an I/O stack: who calls whom, where the time goes, and what becomes of a request on its way down."""
