"""Per-node collectors: read sources into batches and ship them to the aggregator. Does not import SciPy."""
