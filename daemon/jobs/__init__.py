"""Jobs that run: their streams, analyzers, losses and life."""
