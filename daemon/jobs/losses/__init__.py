"""Losses, failures and omissions of a job's data."""
