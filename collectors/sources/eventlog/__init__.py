"""Event logs for directly-follows graphs."""
