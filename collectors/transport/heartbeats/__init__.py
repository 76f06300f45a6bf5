"""What a collector says of itself at intervals, and what it learns from the answers."""
