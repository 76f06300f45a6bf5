"""The report of a run: one page, self-contained."""
