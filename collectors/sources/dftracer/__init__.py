"""The traces of dftracer."""
