"""What commands share of what they print: problems of inputs, the log, tables, progress."""
