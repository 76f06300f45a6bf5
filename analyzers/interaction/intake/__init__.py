"""From events to interactions: channels, wake-ups, locks, virtual machines."""
