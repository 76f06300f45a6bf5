"""iotide dfg."""
