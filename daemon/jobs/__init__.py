"""Running jobs: their streams, analyzers, losses and lifecycle."""
