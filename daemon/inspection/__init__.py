"""Inspection of a running installation, for ``iotide doctor``."""
