"""The period of a running job."""
