"""How the layers of a job are shown."""
