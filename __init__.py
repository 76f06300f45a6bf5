"""iotide: the I/O rhythm of running HPC jobs, live."""

__version__ = "0.1.0"
