"""Lines of kernel tracers become columns."""
