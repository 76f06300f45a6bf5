"""Spool of records that were taken and not analysed yet, in memory and then in files."""
