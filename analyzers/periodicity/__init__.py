"""Period of a window of signal."""
