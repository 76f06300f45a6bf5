"""OTF2 traces, through its own library."""
