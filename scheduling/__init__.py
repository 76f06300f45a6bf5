"""Pure policies that share a file system's bandwidth among jobs, for simulator, ``iotide schedule`` and collectors."""
