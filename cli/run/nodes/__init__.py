"""Collectors on the other nodes that a command of ``iotide run`` uses."""
