"""Records that are taken and not analysed yet, in memory and then in files."""
