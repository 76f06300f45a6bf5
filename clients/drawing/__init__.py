"""Shared drawing code: colours and axes, SVG charts, Graphviz."""
