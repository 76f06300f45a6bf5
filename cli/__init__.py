"""The command line: one module per sub-command, which connects the other parts."""
