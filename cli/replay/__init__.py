"""iotide replay."""
