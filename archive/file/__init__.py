"""The file: what a writer appends, and what a reader finds."""
