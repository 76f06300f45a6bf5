"""Chrome trace events."""
