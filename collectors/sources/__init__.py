"""The inputs that iotide reads, one module each."""
