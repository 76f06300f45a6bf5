"""What the tracer writes: layout, names, and records as columns."""
