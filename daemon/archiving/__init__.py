"""Each job's calls on disk, as they come in."""
