"""The steps from a stream's batch to an analyzer, the same for running jobs and for finished traces."""
