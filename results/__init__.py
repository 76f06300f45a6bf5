"""The public results: pydantic models, the same over ZeroMQ, HTTP, Prometheus and ``--json``."""
