"""Directly-follows graphs: what an activity and a case are, the graph and its statistics, comparison."""
