"""OTF2 traces."""
