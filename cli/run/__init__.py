"""``iotide run``: a command is started, traced, followed and summed up."""
