"""Policies that share a file system's bandwidth among jobs: pure, for simulator, ``iotide schedule`` and collectors."""
