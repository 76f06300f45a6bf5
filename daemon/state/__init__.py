"""State that survives a restart of the aggregator: jobs, alerts, and their file."""
