"""Results as text: numbers with units, tables, sentences."""
