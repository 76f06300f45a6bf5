"""Outputs: Prometheus, HTTP, ZeroMQ PUB."""
