"""User declarations of a graph: mapping, case, filter, rules."""
