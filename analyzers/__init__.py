"""The science: incremental and pure. No clock, no I/O, no threads, no sockets."""
