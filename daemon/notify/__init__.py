"""Alerts on contention over HTTP, to Alertmanager and to receivers of its webhooks."""
