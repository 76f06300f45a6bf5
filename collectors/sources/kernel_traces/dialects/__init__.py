"""The supported tracers, and the differences between their lines."""
