"""Interaction graph of threads, processes, jobs and files, its components and their leaders."""
