"""Spool of records that were taken and not analysed yet. It is in memory and then in files."""
