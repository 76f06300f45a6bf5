"""The ways out: Prometheus, HTTP, ZeroMQ PUB."""
