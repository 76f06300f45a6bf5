"""What an aggregator keeps over its end: the state of its jobs, alerts, and the file that has them."""
