"""Access control: who may connect, for which purpose, and which jobs they see."""
