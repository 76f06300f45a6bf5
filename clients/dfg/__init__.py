"""Output of directly-follows graphs: graphics, pages, tables, formats of other tools."""
