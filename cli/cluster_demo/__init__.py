"""What ``make demo-cluster`` shows: a whole cluster with monitoring on one machine."""
