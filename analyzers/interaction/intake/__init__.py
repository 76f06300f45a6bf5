"""Conversion of events to interactions: channels, wake-ups, locks, virtual machines."""
