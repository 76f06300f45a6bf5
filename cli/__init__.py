"""The command line: one module a sub-command, wiring the parts together."""
