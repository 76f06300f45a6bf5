"""From events to the wire: batches, what waits for acknowledgement, the connection."""
