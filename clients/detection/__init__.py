"""How a rhythm that was found is shown: text, pictures, a page."""
