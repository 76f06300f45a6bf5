"""Results about jobs."""
