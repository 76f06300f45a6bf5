"""Charts of a report as SVG, without a drawing library."""
