"""The aggregator: takes in streams, keeps job sessions, predicts, publishes."""
