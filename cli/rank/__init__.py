"""iotide rank."""
