"""Finished traces, read in pieces as often as a command needs them."""
