"""Period of a running job."""
