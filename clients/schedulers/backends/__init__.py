"""What applies limits to jobs."""
