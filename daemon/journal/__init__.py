"""Messages since the last snapshot, on disk before they are acknowledged."""
