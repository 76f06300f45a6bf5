"""Jobs shared out among aggregators: partitions, who has which, and the way of what collectors send to its owner."""
