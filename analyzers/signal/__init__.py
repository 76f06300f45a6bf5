"""How bytes over time become a signal in bins, at several resolutions."""
