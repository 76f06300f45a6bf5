"""Who of a job does I/O when."""
