"""Chrome's trace events."""
