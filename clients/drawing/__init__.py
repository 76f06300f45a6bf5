"""What pictures of all subjects share: colours and axes, charts as SVG, Graphviz."""
