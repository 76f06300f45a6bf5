"""What period a stretch of signal has."""
