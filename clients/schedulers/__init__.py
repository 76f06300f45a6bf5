"""Policies that share the bandwidth of one file system among jobs, and a fluid model that runs them."""
