"""What a node knows of files: their file system, mounts, stripes."""
