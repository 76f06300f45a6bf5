"""Output of a job's layers."""
