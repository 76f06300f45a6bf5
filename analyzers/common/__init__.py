"""What several analyzers are built of: grouping of rows, bounded state, order."""
