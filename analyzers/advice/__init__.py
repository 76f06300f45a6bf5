"""What a job spends on I/O, why, and what to change first."""
