"""Steps from a stream's batch to an analyzer, shared by running jobs and finished traces."""
