"""Node-local metadata of files: file system, mounts, stripes."""
