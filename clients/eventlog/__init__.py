"""Event logs for other tools."""
