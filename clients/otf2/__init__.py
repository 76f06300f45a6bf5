"""OTF2 traces, written with the OTF2 library."""
