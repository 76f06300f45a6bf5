"""iotide advise."""
