"""The demonstration of ``make demo-cluster``: a whole cluster with monitoring on one machine."""
