"""The rings of traced processes: hand-over, mapping, draining."""
