"""Directly-follows graphs: activities, cases, the graph with its statistics, and comparison."""
