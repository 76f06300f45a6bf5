"""The rhythm of a running job."""
