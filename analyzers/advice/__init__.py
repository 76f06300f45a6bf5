"""Time a job spends on I/O, the causes, and the changes that save the most."""
