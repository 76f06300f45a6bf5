"""Use of each file system by a job: phases with their bytes, calls and latencies."""
