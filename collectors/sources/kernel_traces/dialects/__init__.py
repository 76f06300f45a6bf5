"""The tracers whose text is read: how their lines differ."""
