"""Event logs of the directly-follows graph."""
