"""Pure policies that share a file system's bandwidth among jobs.

Simulator, ``iotide schedule`` and collectors use them.
"""
