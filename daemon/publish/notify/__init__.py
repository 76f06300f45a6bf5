"""Alerts on contention as HTTP messages: to Alertmanager, and to what takes its webhooks."""
