"""``iotide simulate``: effect of I/O scheduling policies on jobs."""
