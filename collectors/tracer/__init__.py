"""Prepare a program for tracing: its environment and the preloaded libraries."""
