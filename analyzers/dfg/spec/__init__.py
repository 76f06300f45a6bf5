"""What a user declares of a graph: mapping, case, filter, rules."""
