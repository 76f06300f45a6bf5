"""What is asked of finished traces."""
