"""What is worth mending, found in a view of the tables."""
