"""``iotide collect``: the per-node agent."""
