"""What a job does to each file system that it uses: phases with their bytes, calls and latencies."""
