"""State changes of jobs, and times of their predictions."""
