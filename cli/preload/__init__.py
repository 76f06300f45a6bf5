"""iotide preload."""
