"""Who may connect, for what, and whose jobs they see."""
