"""Convert lines of kernel tracers to columns."""
