"""``iotide detect``: the period of finished traces."""
