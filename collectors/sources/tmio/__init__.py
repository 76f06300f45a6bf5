"""What TMIO and its kin write, and send to FTIO."""
