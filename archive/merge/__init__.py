"""What the streams of a job have in common, put together over its ranks."""
