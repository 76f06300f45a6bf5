"""Contents of a collector's heartbeats, and processing of the answers."""
