"""The tracer's output: layout, names, and conversion of records to columns."""
