"""From events to the wire: batches, the queue of unacknowledged ones, the connection."""
