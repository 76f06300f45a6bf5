"""Accounts of the events of all jobs: losses in total, and the ledger of a job."""
