"""Building blocks of several analyzers: grouping of rows, bounded state, ordering."""
