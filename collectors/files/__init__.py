"""Files that grow, are cut, replaced or packed, and their lines."""
