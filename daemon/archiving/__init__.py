"""Archives of each job's calls on disk, written as the calls arrive."""
