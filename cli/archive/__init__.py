"""iotide archive."""
