"""What the preload library leaves in the memory that it shares with us."""
