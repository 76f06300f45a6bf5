"""Jobs distributed over aggregators: partitions, their owners, and forwarding of messages to the owner."""
