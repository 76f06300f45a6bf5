"""What commands share of their command lines: options, their types, help in groups."""
