"""What came in since the jobs were last written down, on disk before it is acknowledged."""
