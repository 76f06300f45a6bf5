"""``iotide run``: start a command, trace it, follow it and summarise it."""
