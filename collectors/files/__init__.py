"""Read files that grow, are truncated, replaced or compressed, and split them into lines."""
