"""Output of a detected period: text, charts, a page."""
