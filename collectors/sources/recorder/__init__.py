"""Traces of Recorder."""
