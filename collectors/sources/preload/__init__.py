"""Read the shared memory into which the preload library writes calls."""
