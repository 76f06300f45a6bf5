"""The aggregator: receives streams, manages job sessions, predicts, publishes."""
