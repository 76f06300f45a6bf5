"""``iotide simulate``: what policies of I/O scheduling would do to jobs."""
