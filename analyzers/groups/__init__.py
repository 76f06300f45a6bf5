"""Members of a job in bounded tables, and groups of members that do I/O together.

Each group can have its own period.
"""
