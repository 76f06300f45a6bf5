"""Per-node collectors: sources become batches, batches are shipped to the aggregator. Imports no SciPy."""
