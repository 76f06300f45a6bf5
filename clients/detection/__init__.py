"""How a period that was found is shown: text, pictures, a page."""
