"""One stream's calls to bytes and back: what stays of a call, terminals, a grammar over them, times."""
