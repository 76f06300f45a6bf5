"""What rhythm a stretch of signal has."""
