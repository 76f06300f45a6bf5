"""iotide layers."""
