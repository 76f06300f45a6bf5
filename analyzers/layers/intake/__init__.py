"""From events to calls: who made whom, and which are alike."""
