"""Columns become who acts, and what system calls did."""
